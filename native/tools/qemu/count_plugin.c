/* A plugin for qemu-user (API version 1, which is that of qemu 6 to 8): counts what the guest executes between markers.
 *
 * A marker is the system call getpgid(0x7A0000 + k), which has no effect on the guest. At each one a line
 *     k instructions memory-accesses
 * with the counts since the start is appended to the file given by out=PATH. On Hexagon, what qemu takes for an
 * instruction is a packet of them: a fourth number then counts their words. Accesses are those of the emulation:
 * loads and stores of up to 8 bytes each, so a load of two vectors counts four times.
 *
 * Debian ships no qemu-plugin.h, so the few functions that are needed are declared here, as the interface documents
 * them.
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
enum { kAddU64 = 0 };
enum { kReadAndWrite = 3 }; /* qemu 7.2 confuses the two where only one is asked for */

typedef void (*translate_callback)(plugin_id, struct qemu_plugin_tb*);
typedef void (*syscall_callback)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translate_callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int operation, void* counter, uint64_t);
void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn*, int access, int operation, void* counter, uint64_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, syscall_callback);

EXPORT int qemu_plugin_version = 1;

static uint64_t instructions, accesses, words;
static bool has_packets;
static int64_t marker_call;
static FILE* out;

static void translate(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddU64, &instructions, count);
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    qemu_plugin_register_vcpu_mem_inline(instruction, kReadAndWrite, kAddU64, &accesses, 1);
    size += qemu_plugin_insn_size(instruction);
  }
  if (has_packets) qemu_plugin_register_vcpu_tb_exec_inline(block, kAddU64, &words, size / 4);
}

static void on_syscall(plugin_id id, unsigned processor, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                       uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)processor, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number != marker_call || (a & 0xFFFF0000) != 0x7A0000) return;
  fprintf(out, "%d %" PRIu64 " %" PRIu64, (int)(a & 0xFFFF), instructions, accesses);
  if (has_packets) fprintf(out, " %" PRIu64, words);
  fprintf(out, "\n");
  fflush(out);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info* info, int count, char** arguments) {
  for (int i = 0; i < count; ++i)
    if (strncmp(arguments[i], "out=", 4) == 0) out = fopen(arguments[i] + 4, "w");
  if (out == NULL) return 1;
  has_packets = strcmp(info->target, "hexagon") == 0;
  marker_call = strcmp(info->target, "arm") == 0 ? 132 : 155; /* getpgid of 32-bit ARM, and of all newer ones */
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
  return 0;
}
