// What rnn, gru and lstm have in common, whichever kernel runs them: their operands, and the way along sequences.
//
// They are functions of the core and not of each kernel: a library holds them once.
#ifndef LATHE_KERNEL_SEQUENCE_CELLS_H_
#define LATHE_KERNEL_SEQUENCE_CELLS_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {

// What distinguishes the operators.
struct CellForm {
  int gates;
  int states;
  int least;  // inputs
  int fixed;  // inputs before the optional lengths
  int extra;  // elements per element of the state, of the operand between the states and the lengths; 0: there is none
};

// Checks the number of inputs and outputs, their types and ranks, and the shape of the recurrent weights, which are
// plain or stand in panels.
Code CheckCells(PrepareContext& context, const CellForm& form);

// Checks all shapes.
Code CheckCellShapes(PlanContext& context, const CellForm& form);

// The steps of a sequence of the batch.
int64_t StepsOf(const RunContext& context, const CellForm& form, int64_t index);

// Writes the first state of a sequence to where the last one is expected; its place.
float* StartState(const RunContext& context, int state, int64_t index);

// What follows is for kernels whose weights stand in panels and that take a step of several sequences together.

constexpr int kMostStates = 2;
constexpr int64_t kMostSequences = 24;          // that go on together: a multiple of the rows of most tiles
constexpr int kCellRows = kMostSequences + 16;  // tiles fill up the rows of a chunk

// Where a sequence is at a step.
struct CellPlace {
  const float* x;              // the input's share of the gates
  float* y;                    // the result
  float* states[kMostStates];  // read and written
};

// A step of the sequences that have not ended.
struct CellStep {
  const RunContext* context;
  const void* state;  // of the kernel
  const float* packed;
  int64_t hidden;
  int64_t row;              // elements of a row of sums: a multiple of a panel
  int64_t most;             // sequences
  int64_t parts;            // into which a product may be divided, one for each thread
  float* inputs;            // room for [most][hidden], as are `spare`
  float* spare;             //
  float* sums[2];           // [most][row] each
  const CellPlace* places;  // `count` of them
  const float** rows;       // kCellRows; the first states of those
  int count;
};

// What a kernel's state begins with.
struct CellState {
  const float* packed;  // null: the weights are not constant
  bool reverse;
};

struct CellPlan {
  int64_t most;  // sequences that go on together
  int64_t threads;
  int64_t thread_floats;
};

// `panel`: how many outputs a panel of weights has. Gates without limits only.
Code PrepareCells(PrepareContext& context, const CellForm& form, int64_t panel);
Code PlanCells(PlanContext& context, const CellForm& form, int64_t panel);
void RunCells(const RunContext& context, const CellForm& form, int64_t panel, void (*step)(const CellStep& step));

// Fails with kUnsupported unless the attribute is one of two words. `*second`: which.
Code ReadFunction(PrepareContext& context, const char* name, const char* word, const char* other, bool* second);

}  // namespace lathe

#endif  // LATHE_KERNEL_SEQUENCE_CELLS_H_
