/* The binary interface of a tailored library.
 *
 * A library named `digits` exports exactly one symbol, the C function `lathe_api_digits`, which returns a table of
 * functions bound to the kernels of that library. Any number of libraries live in one program.
 *
 * The table only grows: `struct_size` tells how much of it a library fills in; LATHE_ABI_VERSION changes only when
 * something before that end changes. Structs that the caller fills start with `struct_size`, set by the caller.
 *
 * No function throws. Functions that can fail return a lathe_code and, where `error` is not NULL, fill it in.
 * Pools, engines and sessions are handles: a function that gets one that was destroyed returns LATHE_INVALID_ARGUMENT,
 * or 0 or NULL where it returns no code. To destroy one twice prints a message and aborts; to destroy NULL does
 * nothing. An engine may be used from several threads at once; a session belongs to one thread at a time.
 */
#ifndef LATHE_C_API_H_
#define LATHE_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_ABI_VERSION 1u
#define LATHE_MAX_RANK 8

typedef int32_t lathe_code;
enum {
  LATHE_OK = 0,
  LATHE_INVALID_ARGUMENT = 1, /* the caller passed something that does not fit */
  LATHE_OUT_OF_MEMORY = 2,
  LATHE_UNSUPPORTED = 3, /* the model needs a kernel that this library does not hold */
  LATHE_BAD_MODEL = 4,   /* the model file is malformed, truncated or of a newer format */
  LATHE_IO = 5,          /* a file cannot be opened, read or mapped */
  LATHE_INTERNAL = 6
};

/* Numbers of the element types, the same as in the container. */
typedef uint32_t lathe_dtype;
enum {
  LATHE_F32 = 1,
  LATHE_F16 = 2,
  LATHE_BF16 = 3,
  LATHE_F64 = 4,
  LATHE_S8 = 5,
  LATHE_U8 = 6,
  LATHE_S16 = 7,
  LATHE_U16 = 8,
  LATHE_S32 = 9,
  LATHE_U32 = 10,
  LATHE_S64 = 11,
  LATHE_U64 = 12,
  LATHE_BOOL = 13
};

typedef struct lathe_error {
  lathe_code code;
  char message[508]; /* what, which node or value, which rule; always terminated */
} lathe_error;

typedef struct lathe_bytes {
  const void* data;
  size_t size;
} lathe_bytes;

/* Memory for everything that outlives a call. `alloc` returns `size` bytes aligned to 64, or NULL; other memory is
 * given back, and the call fails with LATHE_OUT_OF_MEMORY. */
typedef struct lathe_allocator {
  void* (*alloc)(void* user, size_t size);
  void (*free)(void* user, void* pointer);
  void* user;
} lathe_allocator;

typedef struct lathe_pool lathe_pool;
typedef struct lathe_engine lathe_engine;
typedef struct lathe_session lathe_session;

/* A model inside the library (code mode). `data` is empty where the weights are in a file. */
typedef struct lathe_embedded_model {
  const char* name;
  lathe_bytes model;
  lathe_bytes data;
} lathe_embedded_model;

enum {
  LATHE_DEVICE_ANY = 0, /* what the model was built for, where there is a driver; else the CPU */
  LATHE_DEVICE_CPU = 1,
  LATHE_DEVICE_GPU = 2, /* the GPU, or an error that says why not */
  LATHE_DEVICE_DSP = 3  /* the same for a DSP */
};

enum {
  LATHE_DEVICE_CHECK = 1u,  /* count reads and writes outside of tensors; a run that has some fails. Slow */
  LATHE_DEVICE_PROFILE = 2u /* measure every kernel: without it an observer gets times of the host */
};

enum {
  LATHE_DSP_UNSIGNED = 1,    /* the program runs without a signature, even if the build says that it is signed */
  LATHE_DSP_FIXED_CLOCKS = 2 /* clocks do not follow the load */
};

/* How fast a DSP should be. Where nothing is asked for, its system decides. */
enum {
  LATHE_DSP_POWER_AS_BUILT = 0, /* `hexagon_power` of the deployment file */
  LATHE_DSP_POWER_RELEASE = 1,  /* takes back what was asked for before */
  LATHE_DSP_POWER_TURBO = 2,    /* from here on slower and slower */
  LATHE_DSP_POWER_NOM_PLUS = 3,
  LATHE_DSP_POWER_NOMINAL = 4,
  LATHE_DSP_POWER_SVS_PLUS = 5,
  LATHE_DSP_POWER_SVS = 6,
  LATHE_DSP_POWER_SVS2 = 7
};

/* How the parts of a model run that were built for a GPU or a DSP (`runtime: gpu`, `cpu+dsp` ...). All zero is a good
 * choice.
 * Memory that is passed in must outlive engine_create. */
typedef struct lathe_device_options {
  uint32_t struct_size;
  uint32_t kind;              /* LATHE_DEVICE_ANY, ... */
  uint32_t flags;             /* LATHE_DEVICE_CHECK, ... */
  uint32_t perf_hint;         /* 0 to 3: default, low, normal, high; where the driver takes hints */
  uint32_t priority_hint;     /* alike */
  uint32_t rebuilds_programs; /* 1: programs that were built before are not used */
  const char* storage_path;   /* a folder that exists: programs that were built are kept there; NULL: nowhere */
  size_t binary_path_count;   /* files with programs that were built elsewhere */
  const char* const* binary_paths;
  lathe_bytes binary; /* such a file in memory */
  const char* tuning_path;
  lathe_bytes tuning;           /* such a file in memory */
  uint32_t tuning_milliseconds; /* how long session_create may tune what is not tuned; 0: not at all */
  uint32_t queue_window;        /* the most commands that wait in the queue; 0: as the model says */
  uint32_t kernel_microseconds; /* kernels are split into parts of this length; 0: as the model says */
  uint32_t dsp_flags;           /* LATHE_DSP_UNSIGNED, ... */
  uint32_t dsp_power;           /* LATHE_DSP_POWER_... */
  uint32_t dsp_latency;         /* microseconds until the DSP is awake, at most; 0: as its system decides */
} lathe_device_options;

/* What runs the parts for a device. Texts are valid as long as the engine. */
typedef struct lathe_device_info {
  uint32_t struct_size;
  uint32_t kind;           /* LATHE_DEVICE_CPU, LATHE_DEVICE_GPU or LATHE_DEVICE_DSP */
  const char* device;      /* its name; NULL where there is none */
  const char* driver;      /* its version */
  const char* reason;      /* why parts for a device run on the CPU; NULL where none do */
  uint32_t programs_built; /* from source */
  uint32_t programs_loaded;
  float programs_ms; /* how long that took */
  size_t memory;     /* bytes of tensors and constants on the device */
} lathe_device_info;

enum {
  LATHE_DEVICE_DATA_PROGRAMS = 1, /* for lathe_device_options.binary */
  LATHE_DEVICE_DATA_TUNING = 2    /* for lathe_device_options.tuning */
};

enum {
  LATHE_POWER_NO_BIND = 0,   /* the system moves threads */
  LATHE_POWER_HIGH = 1,      /* the fast cores */
  LATHE_POWER_LOW = 2,       /* the slow ones */
  LATHE_POWER_FULL = 3,      /* as many cores as threads, the fast ones first */
  LATHE_POWER_RAND_HIGH = 4, /* as many fast cores as threads; every ten runs begin one core further */
  LATHE_POWER_RAND_LOW = 5   /* the same of slow cores */
};

enum {
  LATHE_CORE_ALIKE = 0, /* the cores of this machine do not differ, or the system does not tell */
  LATHE_CORE_BIG = 1,
  LATHE_CORE_LITTLE = 2
};

/* A core as the system describes it. */
typedef struct lathe_core_info {
  uint32_t struct_size;
  uint32_t core;     /* its number */
  uint32_t kind;     /* LATHE_CORE_ALIKE, ... */
  uint32_t allowed;  /* 1: the calling thread may run there */
  uint32_t capacity; /* relative speed, at most 1024; 0 where the system does not tell */
  uint32_t max_khz;  /* alike */
} lathe_core_info;

/* For libraries that were built with core_binding: 1; others answer LATHE_UNSUPPORTED.
 * The cores that the threads of an engine stay on, the one that calls `run` too while it runs. All zero: any. More
 * threads than cores are cut to their number. A mode binds nothing where there are no such cores, or the system
 * refuses; a list is an error where the process may not run on one of its cores. */
typedef struct lathe_cpu_options {
  uint32_t struct_size;
  uint32_t power;      /* LATHE_POWER_NO_BIND, ... */
  uint32_t core_count; /* more than 0: these cores, whatever the mode */
  const uint32_t* cores;
} lathe_cpu_options;

/* Where the model comes from, in this order: `model` (and `data`) in memory, `model_path` (and `data_path`), else the
 * embedded model called `model_name` (NULL: the only one). Memory that is passed in must outlive the engine. */
typedef struct lathe_engine_options {
  uint32_t struct_size;
  int32_t num_threads; /* 0: one per core; ignored where `pool` is given */
  const char* model_name;
  const char* model_path;
  const char* data_path;
  lathe_bytes model;
  lathe_bytes data;
  lathe_pool* pool;                 /* NULL: the engine makes its own */
  const lathe_allocator* allocator; /* NULL: malloc */
  /* Leaves out kernels for better instruction sets than this one, which is a word at the end of their names, and GPUs.
   * For tests and measurements; NULL: the best that the machine has. */
  const char* isa_limit;
  const lathe_device_options* device; /* NULL: all zero */
  const lathe_cpu_options* cpu;       /* NULL: all zero; for a pool that is given, as engine_bind */
} lathe_engine_options;

enum {
  /* Every intermediate value keeps memory of its own, so that session_value can read all of them. */
  LATHE_SESSION_KEEP_ALL = 1u
};

typedef struct lathe_session_options {
  uint32_t struct_size;
  uint32_t flags;
} lathe_session_options;

typedef struct lathe_tensor_info {
  uint32_t struct_size;
  lathe_dtype dtype;
  const char* name;   /* valid as long as the engine */
  const char* format; /* NHWC, NCHW, NONE, ...: what the deployment file declared; empty for inner values */
  uint32_t rank;
  int64_t dims[LATHE_MAX_RANK];     /* current */
  int64_t dims_max[LATHE_MAX_RANK]; /* bound; equal to dims_min where the dimension is fixed */
  int64_t dims_min[LATHE_MAX_RANK];
  size_t bytes; /* of the current shape */
} lathe_tensor_info;

typedef struct lathe_shape {
  uint32_t rank;
  int64_t dims[LATHE_MAX_RANK];
} lathe_shape;

#define LATHE_NO_NODE 0xffffffffu

/* An observer gets this after each node, and from set_image and run_image of lathe/vision.h (`op` is "image"). */
typedef struct lathe_node_event {
  uint32_t struct_size;
  uint32_t index; /* LATHE_NO_NODE for images */
  const char* op;
  const char* name;
  const char* kernel;
  int64_t start_ns; /* monotonic clock */
  int64_t end_ns;
} lathe_node_event;
typedef void (*lathe_observer)(void* user, const lathe_node_event* event);

/* What one thread of an engine did of one loop that several threads shared. */
typedef struct lathe_thread_event {
  uint32_t struct_size;
  uint32_t thread;  /* 0: the one that called run */
  uint32_t slices;  /* of the loop, that it ran */
  int64_t start_ns; /* the clock of lathe_node_event */
  int64_t end_ns;
} lathe_thread_event;
typedef void (*lathe_thread_observer)(void* user, const lathe_thread_event* event);

/* A node as the model has it. Everything is valid as long as the engine. */
typedef struct lathe_node_info {
  uint32_t struct_size;
  const char* op;
  const char* name;
  const char* kernel;
  size_t input_count;
  const uint32_t* inputs; /* indices for value_at */
  size_t output_count;
  const uint32_t* outputs;
} lathe_node_info;

typedef struct lathe_memory_info {
  uint32_t struct_size;
  size_t weights_mapped;    /* used in place from the file or from memory */
  size_t weights_allocated; /* expanded or packed at create */
  size_t arena;             /* of one session, at its current shape */
  size_t scratch;
} lathe_memory_info;

typedef struct lathe_vision_api lathe_vision_api;

typedef struct lathe_api {
  uint32_t struct_size;
  uint32_t abi_version;
  const char* library; /* the name of the tailored library */
  const char* version; /* of Lathe */

  size_t (*kernel_count)(void);
  const char* (*kernel_name)(size_t index);
  size_t (*model_count)(void);
  const lathe_embedded_model* (*model_at)(size_t index);

  lathe_code (*pool_create)(int32_t num_threads, lathe_pool** pool, lathe_error* error);
  void (*pool_destroy)(lathe_pool* pool); /* its engines go on until they are destroyed */

  /* Validates the model, chooses kernels where the model has no plan, expands and packs weights. */
  lathe_code (*engine_create)(const lathe_engine_options* options, lathe_engine** engine, lathe_error* error);
  void (*engine_destroy)(lathe_engine* engine); /* its sessions go on until they are destroyed */
  size_t (*input_count)(const lathe_engine* engine);
  size_t (*output_count)(const lathe_engine* engine);

  /* A session owns the memory of one run. It starts with every bounded dimension at its bound. */
  lathe_code (*session_create)(lathe_engine* engine, const lathe_session_options* options, lathe_session** session,
                               lathe_error* error);
  void (*session_destroy)(lathe_session* session);

  lathe_code (*input_info)(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error);
  lathe_code (*output_info)(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error);

  /* Gives all inputs new shapes: evaluates all dimensions, plans the arena, allocates at most once. */
  lathe_code (*resize)(lathe_session* session, size_t count, const lathe_shape* shapes, lathe_error* error);

  /* Either write into the session's own buffer ... */
  lathe_code (*input_data)(lathe_session* session, size_t index, void** data, size_t* bytes, lathe_error* error);
  /* ... or bind one of yours, which is read at every run: in place where it is aligned to 64, else through a copy.
   * NULL unbinds. A resize unbinds all. */
  lathe_code (*bind_input)(lathe_session* session, size_t index, const void* data, size_t bytes, lathe_error* error);
  lathe_code (*bind_output)(lathe_session* session, size_t index, void* data, size_t bytes, lathe_error* error);

  /* Arithmetic only: allocates nothing. Where only the data decides how large an output is, memory and buffers are for
   * the largest size until the run; then output_info and output_data tell what it has become. */
  lathe_code (*run)(lathe_session* session, lathe_error* error);
  lathe_code (*output_data)(const lathe_session* session, size_t index, const void** data, size_t* bytes,
                            lathe_error* error);

  /* Any value by its name or a name it had in the source model; needs LATHE_SESSION_KEEP_ALL for inner values. */
  lathe_code (*value)(const lathe_session* session, const char* name, lathe_tensor_info* info, const void** data,
                      lathe_error* error);

  void (*set_observer)(lathe_session* session, lathe_observer observer, void* user);
  void (*memory_info)(const lathe_session* session, lathe_memory_info* info);

  /* All values of the model, constants too, in the order of the container. `data` is NULL for those that do not outlive
   * the run (see LATHE_SESSION_KEEP_ALL). */
  size_t (*value_count)(const lathe_engine* engine);
  lathe_code (*value_at)(const lathe_session* session, size_t index, lathe_tensor_info* info, const void** data,
                         lathe_error* error);

  /* The node of this index in lathe_node_event. */
  lathe_code (*node_at)(const lathe_engine* engine, size_t index, lathe_node_info* info, lathe_error* error);
  /* The whole numbers of a node's attribute; NULL where it has none of this name, or of another kind. */
  const int64_t* (*node_numbers)(const lathe_engine* engine, size_t index, const char* attribute, size_t* count);

  lathe_code (*device_info)(const lathe_engine* engine, lathe_device_info* info, lathe_error* error);
  /* What a device has found out that is worth keeping: LATHE_DEVICE_DATA_*. Empty where there is none. */
  lathe_code (*device_data)(const lathe_engine* engine, uint32_t what, lathe_bytes* data, lathe_error* error);

  /* The observer is called on every thread that took part in a loop, by several of them at once, and after the loop at
   * the latest. Set it while nothing runs on the engine's pool; NULL: none. */
  void (*set_thread_observer)(lathe_engine* engine, lathe_thread_observer observer, void* user);

  /* The cores of this machine, at most 256; none where the library cannot bind threads. */
  size_t (*core_count)(void);
  lathe_code (*core_at)(size_t index, lathe_core_info* info, lathe_error* error);
  /* Moves the threads of an engine, and of all that share its pool, from the next run on; their number stays. Call it
   * while nothing runs on the pool. */
  lathe_code (*engine_bind)(lathe_engine* engine, const lathe_cpu_options* options, lathe_error* error);
  /* Where the threads are in the next run: writes up to `most` numbers and returns how many there are; 0: anywhere. */
  size_t (*engine_cores)(const lathe_engine* engine, uint32_t* cores, size_t most);

  /* The functions of lathe/vision.h that the deployment asks for; those that it does not are NULL. NULL: none. */
  const lathe_vision_api* vision;
} lathe_api;

#ifdef __cplusplus
}
#endif

#endif /* LATHE_C_API_H_ */
