"""Operators of Paddle 3 as those of Paddle 2: the name, the slots of their inputs and outputs in order, attributes.

A slot with a star behind it takes all that are left.

Operators that are not listed have the name that they had, and take `X` to `Out`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


def by_slot(slots: tuple[str, ...], tensors: Sequence[tuple[str, ...]], otherwise: str) -> dict[str, tuple[str, ...]]:
    """Operands or results by their slots; those that have none get numbered ones."""
    if slots and slots[-1].endswith("*"):
        kept = len(slots) - 1
        tensors = [*tensors[:kept], tuple(name for names in tensors[kept:] for name in names)]
        slots = (*slots[:kept], slots[-1].removesuffix("*"))
    named = (*slots, *(f"{otherwise}{number}" for number in range(len(slots), len(tensors))))
    return dict(zip(named, tensors, strict=False))


@dataclass(frozen=True)
class Translation:
    """How an operator was called before. `renamed`: attributes by their new names."""

    name: str
    inputs: tuple[str, ...] = ("X",)
    outputs: tuple[str, ...] = ("Out",)
    renamed: Mapping[str, str] = field(default_factory=dict)


#: One line each: `new name = old name | inputs | outputs | new attribute:old attribute ...`; what is empty is as usual.
_TABLE = """
conv2d = conv2d | Input Filter | Output
depthwise_conv2d = depthwise_conv2d | Input Filter | Output
conv3d = conv3d | Input Filter | Output
conv2d_transpose = conv2d_transpose | Input Filter OutputSize | Output
depthwise_conv2d_transpose = depthwise_conv2d_transpose | Input Filter OutputSize | Output
conv3d_transpose = conv3d_transpose | Input Filter | Output
deformable_conv = deformable_conv | Input Offset Filter Mask | Output
batch_norm = batch_norm | X Mean Variance Scale Bias | Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace | \
data_format:data_layout
sync_batch_norm = sync_batch_norm | X Mean Variance Scale Bias | \
Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace | data_format:data_layout
layer_norm = layer_norm | X Scale Bias | Y Mean Variance
instance_norm = instance_norm | X Scale Bias | Y SavedMean SavedVariance
group_norm = group_norm | X Scale Bias | Y Mean Variance | data_format:data_layout
pool2d = pool2d | X KernelSize
pool3d = pool3d | | | kernel_size:ksize
max_pool2d_with_index = max_pool2d_with_index | | Out Mask | kernel_size:ksize
matmul = matmul_v2 | X Y | | transpose_x:trans_x transpose_y:trans_y
matmul_with_flatten = mul | X Y
bmm = bmm | X Y
mv = mv | X Vec
dot = dot | X Y
addmm = addmm | Input X Y | | alpha:Alpha beta:Beta
fc = fc | Input W Bias
add = elementwise_add | X Y
subtract = elementwise_sub | X Y
multiply = elementwise_mul | X Y
divide = elementwise_div | X Y
maximum = elementwise_max | X Y
minimum = elementwise_min | X Y
fmax = elementwise_fmax | X Y
fmin = elementwise_fmin | X Y
elementwise_pow = elementwise_pow | X Y
remainder = elementwise_mod | X Y
floor_divide = elementwise_floordiv | X Y
atan2 = atan2 | X1 X2
equal = equal | X Y
not_equal = not_equal | X Y
less_than = less_than | X Y
less_equal = less_equal | X Y
greater_than = greater_than | X Y
greater_equal = greater_equal | X Y
logical_and = logical_and | X Y
logical_or = logical_or | X Y
logical_xor = logical_xor | X Y
bitwise_and = bitwise_and | X Y
bitwise_or = bitwise_or | X Y
bitwise_xor = bitwise_xor | X Y
isnan = isnan_v2
isinf = isinf_v2
isfinite = isfinite_v2
scale = scale | X ScaleTensor
cast = cast | | | dtype:out_dtype
full = fill_constant
full_with_tensor = fill_constant | ValueTensor ShapeTensor
full_like = fill_any_like | X ValueTensor
full_batch_size_like = fill_constant_batch_size_like | Input
assign_out = assign | X Unused
assign_value = assign_value | Unused
share_data = assign
arange = range | Start End Step
linspace = linspace | Start Stop Num
shape = shape | Input
shape64 = shape64 | Input
numel = size | Input
reshape = reshape2 | X Shape | Out XShape
squeeze = squeeze2 | X AxesTensor | Out XShape
unsqueeze = unsqueeze2 | X AxesTensor | Out XShape
flatten = flatten_contiguous_range | | Out XShape
transpose = transpose2 | | Out XShape | perm:axis
concat = concat | X AxisTensor
split = split | X SectionsTensor AxisTensor
split_with_num = split | X AxisTensor
stack = stack | | Y
unstack = unstack | | Y
slice = slice | Input StartsTensor EndsTensor
strided_slice = strided_slice | Input StartsTensor EndsTensor StridesTensor
gather = gather | X Index Axis
gather_nd = gather_nd | X Index
index_select = index_select | X Index | | axis:dim
index_sample = index_sample | X Index
take_along_axis = take_along_axis | Input Index | Result | axis:Axis
scatter = scatter | X Ids Updates
scatter_nd_add = scatter_nd_add | X Index Updates
expand = expand_v2 | X Shape
expand_as = expand_as_v2 | X Y
tile = tile | X RepeatTimes
pad = pad | X PadValue
pad3d = pad3d | X Paddings | | pad_value:value
roll = roll | X ShiftsTensor
tril = tril_triu
triu = tril_triu
one_hot = one_hot_v2 | X depth_tensor
embedding = lookup_table_v2 | Ids W
topk = top_k_v2 | X K | Out Indices
argsort = argsort | | Out Indices
argmax = arg_max | X AxisTensor
argmin = arg_min | X AxisTensor
where = where | Condition X Y
nonzero = where_index | Condition
sum = reduce_sum | X AxesTensor | | keepdim:keep_dim
mean = reduce_mean | X AxesTensor | | axis:dim keepdim:keep_dim
max = reduce_max | X AxesTensor | | keepdim:keep_dim
min = reduce_min | X AxesTensor | | keepdim:keep_dim
prod = reduce_prod | X AxesTensor | | keepdim:keep_dim
amax = reduce_max | | | axis:dim keepdim:keep_dim
amin = reduce_min | | | axis:dim keepdim:keep_dim
all = reduce_all | | | axis:dim keepdim:keep_dim
any = reduce_any | | | axis:dim keepdim:keep_dim
mean_all = mean
add_n = sum
norm = norm | | Out Norm
cumsum = cumsum | X AxisTensor
clip = clip | X Min Max
pow = pow | | | y:factor
dropout = dropout | X Seed Probability | Out Mask | p:dropout_prob mode:dropout_implementation
leaky_relu = leaky_relu | | | negative_slope:alpha
hardswish = hard_swish
hardsigmoid = hard_sigmoid
hardtanh = brelu
softshrink = softshrink | | | threshold:lambda
hardshrink = hard_shrink
prelu = prelu | X Alpha
nearest_interp = nearest_interp_v2 | X OutSize SizeTensor Scale
bilinear_interp = bilinear_interp_v2 | X OutSize SizeTensor Scale
linear_interp = linear_interp_v2 | X OutSize SizeTensor Scale
eye = eye | Rows Columns
unpool = unpool | X Indices OutputSize
bicubic_interp = bicubic_interp_v2 | X OutSize SizeTensor Scale
grid_sample = grid_sampler | X Grid | Output
affine_grid = affine_grid | Theta OutputShape | Output
unfold = unfold | | Y
fold = fold | | Y
roi_align = roi_align | X ROIs RoisNum
prior_box = prior_box | Input Image | Boxes Variances
box_coder = box_coder | PriorBox PriorBoxVar TargetBox | OutputBox
yolo_box = yolo_box | X ImgSize | Boxes Scores
multiclass_nms3 = multiclass_nms3 | BBoxes Scores RoisNum | Out Index NmsRoisNum
matrix_nms = matrix_nms | BBoxes Scores | Out Index RoisNum
rnn = rnn | Input PreState WeightList SequenceLength | Out DropoutState State Reserve
quantize_linear = quantize_linear | X Scale ZeroPoint | Y
dequantize_linear = dequantize_linear | X Scale ZeroPoint | Y
crop = crop_tensor | X Shape Offsets
frobenius_norm = frobenius_norm | X AxesTensor
generate_proposals = generate_proposals_v2 | Scores BboxDeltas ImShape Anchors Variances | \
RpnRois RpnRoiProbs RpnRoisNum | pre_nms_top_n:pre_nms_topN post_nms_top_n:post_nms_topN
collect_fpn_proposals = collect_fpn_proposals | MultiLevelRois MultiLevelScores MultiLevelRoIsNum | FpnRois RoisNum | \
post_nms_topn:post_nms_topN
distribute_fpn_proposals = distribute_fpn_proposals | FpnRois RoisNum | MultiFpnRois MultiLevelRoIsNum RestoreIndex
select_input = select_input | Mask X*
array_read = read_from_array | X I
crf_decoding = crf_decoding | Emission Transition Label Length | ViterbiPath
viterbi_decode = viterbi_decode | Input Transition Length | Scores Path
array_length = lod_array_length
array_to_tensor = tensor_array_to_tensor | | Out OutIndex
gru_unit = gru_unit | Input HiddenPrev Weight Bias | Gate ResetHiddenPrev Hidden
affine_channel = affine_channel | X Scale Bias
anchor_generator = anchor_generator | Input | Anchors Variances
masked_select = masked_select | X Mask | Y
multiplex = multiplex | X Ids
box_clip = box_clip | Input ImInfo | Output
fake_dequantize_max_abs = fake_dequantize_max_abs | X Scale
fake_channel_wise_dequantize_max_abs = fake_channel_wise_dequantize_max_abs | X Scales
fake_quantize_range_abs_max = fake_quantize_range_abs_max | X InScale Iter | Out OutScale
fake_quantize_moving_average_abs_max = fake_quantize_moving_average_abs_max | X InScale | Out OutScale
fake_quantize_abs_max = fake_quantize_abs_max | | Out OutScale
fake_quantize_dequantize_moving_average_abs_max = fake_quantize_dequantize_moving_average_abs_max | \
X InScale | Out OutScale
"""


def _parsed(line: str) -> tuple[str, Translation]:
    new, _, rest = line.partition(" = ")
    name, inputs, outputs, renamed = (*(part.strip() for part in rest.split("|")), "", "", "")[:4]
    return new, Translation(
        name,
        tuple(inputs.split()) or ("X",),
        tuple(outputs.split()) or ("Out",),
        {key: old for key, _, old in (item.partition(":") for item in renamed.split())},
    )


OPERATORS: Mapping[str, Translation] = dict(_parsed(line) for line in _TABLE.strip().splitlines())


def translation(name: str) -> Translation:
    """That of an operator; those that work in place have an underscore behind their names."""
    found = OPERATORS.get(name) or OPERATORS.get(name.removesuffix("_"))
    return found or Translation(name.removesuffix("_"))
