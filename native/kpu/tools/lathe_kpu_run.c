/* Runs kmodels on this machine, with the KPU in software.
 *
 *   lathe_kpu_run FILE INPUT OUTPUT [THREADS [REPEATS]]   writes OUTPUT0, OUTPUT1, ..., and says how long it took
 *   lathe_kpu_run --check FILE...                         says what becomes of each file, with an input of zeros
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lathe_kpu.h"

enum { MOST_THREADS = 64, MOST_MEMORY = 64 << 20 };

/* What --check does not wait for. */
static const uint64_t most_operations = 200000000;

typedef struct bytes {
  uint8_t* data;
  size_t size;
} bytes;

/* A model, and all that it lies in. */
typedef struct machine {
  bytes file;
  uint8_t* main_memory;
  lathe_kpu_software software;
  lathe_kpu model;
} machine;

typedef struct thread {
  pthread_t id;
  void (*work)(void* argument, uint32_t part);
  void* argument;
  uint32_t part;
} thread;

static void* allocate(size_t size) {
  void* memory = NULL;
  if (posix_memalign(&memory, 256, size != 0 ? size : 1) != 0) {
    fprintf(stderr, "lathe_kpu_run: no %zu bytes of memory\n", size);
    exit(3);
  }
  memset(memory, 0, size);
  return memory;
}

static bytes read_file(const char* path) {
  bytes content = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(3);
  }
  content.size = (size_t)ftell(file);
  content.data = (uint8_t*)allocate(content.size);
  rewind(file);
  if (fread(content.data, 1, content.size, file) != content.size) {
    perror(path);
    exit(3);
  }
  fclose(file);
  return content;
}

static void* run_thread(void* argument) {
  const thread* one = (const thread*)argument;
  one->work(one->argument, one->part);
  return NULL;
}

/* A thread a part, started each time: simple, and little beside a convolution. */
static void run_in_threads(void* context, void (*work)(void* argument, uint32_t part), void* argument, uint32_t parts) {
  thread threads[MOST_THREADS];
  (void)context;
  for (uint32_t part = 1; part < parts; ++part) {
    const thread one = {.work = work, .argument = argument, .part = part};
    threads[part] = one;
    if (pthread_create(&threads[part].id, NULL, run_thread, &threads[part]) != 0) exit(3);
  }
  work(argument, 0);
  for (uint32_t part = 1; part < parts; ++part) pthread_join(threads[part].id, NULL);
}

static lathe_kpu_status load(machine* to, const char* path, uint32_t threads) {
  lathe_kpu_needs needs;
  memset(to, 0, sizeof *to);
  to->model.failed_layer = LATHE_KPU_NO_LAYER;
  to->file = read_file(path);
  lathe_kpu_status status = lathe_kpu_measure(to->file.data, to->file.size, &needs);
  if (status != LATHE_KPU_OK) return status;
  if (needs.main_memory > MOST_MEMORY) return LATHE_KPU_MAIN_MEMORY_SIZE;
  to->main_memory = (uint8_t*)allocate(needs.main_memory);
  to->software.ram = (uint8_t*)allocate(LATHE_KPU_RAM_BYTES);
  to->software.parts = threads;
  to->software.workspaces = (lathe_kpu_workspace*)allocate(threads * sizeof(lathe_kpu_workspace));
  to->software.parallel = threads > 1 ? run_in_threads : NULL;
  return lathe_kpu_load(to->file.data, to->file.size, to->main_memory, needs.main_memory,
                        lathe_kpu_software_device(&to->software), &to->model);
}

static void release(machine* of) {
  free(of->file.data);
  free(of->main_memory);
  free(of->software.ram);
  free(of->software.workspaces);
}

static void report(const char* path, const machine* of, lathe_kpu_status status) {
  printf("%s: %s", path, lathe_kpu_status_text(status));
  if (of->model.failed_layer != LATHE_KPU_NO_LAYER && status != LATHE_KPU_OK) {
    printf(" (layer %d)", (int)of->model.failed_layer);
  }
  printf("\n");
}

static int check_files(char** paths) {
  for (; *paths != NULL; ++paths) {
    machine one;
    lathe_kpu_status status = load(&one, *paths, 1);
    if (status == LATHE_KPU_OK && one.model.operations <= most_operations) {
      uint8_t* input = (uint8_t*)allocate(one.model.input_bytes);
      status = lathe_kpu_run(&one.model, input, one.model.input_bytes);
      free(input);
    }
    report(*paths, &one, status);
    release(&one);
  }
  return 0;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void write_outputs(const lathe_kpu* model, const char* prefix) {
  for (uint32_t index = 0; index < model->outputs; ++index) {
    char path[4096];
    const void* data;
    size_t size;
    snprintf(path, sizeof path, "%s%u", prefix, (unsigned)index);
    lathe_kpu_output(model, index, &data, &size);
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
      perror(path);
      exit(3);
    }
  }
}

int main(int count, char** arguments) {
  machine one;
  if (count >= 2 && strcmp(arguments[1], "--check") == 0) return check_files(arguments + 2);
  if (count < 4) {
    fprintf(stderr, "usage: lathe_kpu_run FILE INPUT OUTPUT [THREADS [REPEATS]], or --check FILE...\n");
    return 2;
  }
  const int threads = count > 4 ? atoi(arguments[4]) : 1;
  const int repeats = count > 5 ? atoi(arguments[5]) : 1;
  if (threads < 1 || threads > MOST_THREADS) return 2;
  lathe_kpu_status status = load(&one, arguments[1], (uint32_t)threads);
  double best = 1e9;
  if (status == LATHE_KPU_OK) {
    bytes input = read_file(arguments[2]);
    for (int repeat = 0; repeat < repeats && status == LATHE_KPU_OK; ++repeat) {
      const double start = seconds();
      status = lathe_kpu_run(&one.model, input.data, input.size);
      const double took = seconds() - start;
      best = took < best ? took : best;
    }
    free(input.data);
  }
  report(arguments[1], &one, status);
  if (status == LATHE_KPU_OK) {
    write_outputs(&one.model, arguments[3]);
    printf("%.3f ms, %llu operations\n", best * 1e3, (unsigned long long)one.model.operations);
  }
  release(&one);
  return status == LATHE_KPU_OK ? 0 : 1;
}
