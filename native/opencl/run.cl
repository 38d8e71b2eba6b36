// The four channels from `lane` on of two pixels of neighbouring blocks.
real4 run_of_four(real4 low, real4 high, int lane) {
  return lane == 0   ? low
         : lane == 1 ? (real4)(low.yzw, high.x)
         : lane == 2 ? (real4)(low.zw, high.xy)
                     : (real4)(low.w, high.xyz);
}
