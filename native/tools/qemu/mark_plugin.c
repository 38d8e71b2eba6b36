/* A plugin for qemu-system (API version 1): counts the instructions that a guest executes between marks.
 *
 * Marks are instructions without effect that no compiler emits: `mov r10, r10` and `mov r11, r11` on ARM (16 bits),
 * `slti x0, x0, 0x7A` and 0x7B on RISC-V. At each one a line `k instructions`, with k = 0 or 1 and the count since the
 * start, is appended to the file given by out=PATH.
 *
 * Debian ships no qemu-plugin.h, so the few functions that are needed are declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct plugin_info {
  const char* target;
  struct {
    int least, current;
  } version;
  bool is_system;
  struct {
    int processors, most_processors;
  } system;
};
enum { kAddU64 = 0, kNoRegisters = 0 };

typedef void (*translate_callback)(plugin_id, struct qemu_plugin_tb*);
typedef void (*execute_callback)(unsigned processor, void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translate_callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int operation, void* counter, uint64_t);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, execute_callback, int registers, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);

EXPORT int qemu_plugin_version = 1;

static uint64_t instructions;
static bool is_arm;
static FILE* out;

/* The number of a mark, or -1. Of ARM's the first 16 bits decide: qemu may hand out what follows, too. */
static int mark(const struct qemu_plugin_insn* instruction) {
  const size_t size = qemu_plugin_insn_size(instruction);
  uint32_t word = 0;
  memcpy(&word, qemu_plugin_insn_data(instruction), size < 4 ? size : 4);
  if (is_arm) word &= 0xFFFF;
  if (word == (is_arm ? 0x46D2u : 0x07A02013u)) return 0;
  return word == (is_arm ? 0x46DBu : 0x07B02013u) ? 1 : -1;
}

/* `data`: the instructions of the block from the mark on, times two, plus its number. */
static void on_mark(unsigned processor, void* data) {
  (void)processor;
  const uint64_t about = (uintptr_t)data;
  fprintf(out, "%d %" PRIu64 "\n", (int)(about & 1), instructions - about / 2);
  fflush(out);
}

static void translate(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddU64, &instructions, count);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    const int number = mark(instruction);
    if (number < 0) continue;
    const uintptr_t about = 2 * (count - i) + (size_t)number;
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, kNoRegisters, (void*)about);
  }
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info* info, int count, char** arguments) {
  for (int i = 0; i < count; ++i)
    if (strncmp(arguments[i], "out=", 4) == 0) out = fopen(arguments[i] + 4, "w");
  if (out == NULL) return 1;
  is_arm = strcmp(info->target, "arm") == 0;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  return 0;
}
