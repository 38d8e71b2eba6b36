# The program of SOURCE_FILES, and its image.
add_executable(${PROJECT_NAME} ${SOURCE_FILES})
target_link_libraries(
  ${PROJECT_NAME}
  -Wl,--start-group
  kendryte
  m
  c
  -Wl,--end-group
)
add_custom_command(
  TARGET ${PROJECT_NAME}
  POST_BUILD
  COMMAND ${CMAKE_OBJCOPY} --output-format=binary $<TARGET_FILE:${PROJECT_NAME}> ${CMAKE_BINARY_DIR}/${PROJECT_NAME}.bin
)
