// What the library says of itself, to MainActivity.
#include <jni.h>

#include <string>

#include "lathe/digits.h"

extern "C" JNIEXPORT jstring JNICALL Java_org_example_digitreader_MainActivity_describeLibrary(JNIEnv* env, jclass) {
  const lathe_api* api = lathe_api_digits();
  const std::string text = std::string(api->library) + ", made by Lathe " + api->version + ", has " +
                           std::to_string(api->kernel_count()) + " kernels";
  return env->NewStringUTF(text.c_str());
}
