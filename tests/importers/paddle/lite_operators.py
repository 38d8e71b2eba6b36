"""The operators that Paddle-Lite 2.6 lists: those that its library always has, and those of `build_extra`."""

from __future__ import annotations

_BASIC = """
affine_channel arg_max batch_norm bilinear_interp box_coder calib cast concat conv2d conv2d_transpose
density_prior_box depthwise_conv2d dropout elementwise_add elementwise_div elementwise_max elementwise_mul
elementwise_sub exp expand fake_channel_wise_dequantize_max_abs fake_dequantize_max_abs fake_quantize_abs_max
fake_quantize_dequantize_moving_average_abs_max fake_quantize_moving_average_abs_max fake_quantize_range_abs_max fc
feed fetch fill_constant fill_constant_batch_size_like flatten flatten2 floor fusion_elementwise_add_activation
fusion_elementwise_div_activation fusion_elementwise_max_activation fusion_elementwise_mul_activation
fusion_elementwise_sub_activation gelu grid_sampler hard_sigmoid instance_norm io_copy io_copy_once layout leaky_relu
log matmul mean mul multiclass_nms nearest_interp pad2d pool2d prelu prior_box range reduce_mean relu relu6
relu_clipped reshape reshape2 rsqrt scale search_fc sequence_topk_avg_pooling shuffle_channel sigmoid slice softmax
softsign split sqrt square squeeze squeeze2 stack subgraph swish tanh transpose transpose2 unsqueeze unsqueeze2
yolo_box
"""
_EXTRA = """
anchor_generator assign assign_value attention_padding_mask axpy beam_search beam_search_decode box_clip calib_once
collect_fpn_proposals conditional_block crop decode_bboxes distribute_fpn_proposals equal gather generate_proposals
graph_op greater_equal greater_than gru gru_unit im2sequence increment is_empty layer_norm layout_once less_equal
less_than lod_reset logical_and logical_not logical_or logical_xor lookup_table lookup_table_v2 lrn
match_matrix_tensor merge_lod_tensor negative norm not_equal power read_from_array reduce_max reduce_prod reduce_sum
roi_align search_aligned_mat_mul search_attention_padding_mask search_grnn search_group_padding search_seq_arithmetic
search_seq_depadding search_seq_fc search_seq_softmax sequence_arithmetic sequence_concat sequence_expand
sequence_expand_as sequence_pool sequence_reshape sequence_reverse sequence_softmax shape split_lod_tensor top_k
uniform_random var_conv_2d while write_to_array
"""
BASIC, EXTRA = frozenset(_BASIC.split()), frozenset(_EXTRA.split())
#: Read with the program itself.
BORDERS = frozenset({"feed", "fetch"})
