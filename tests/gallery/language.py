"""Families of transformers: small configurations with random weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
import transformers as hf

from tests.gallery.entries import Entry, Input, Outputs, image, tokens

_SMALL = {
    "vocab_size": 100,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 128,
}
_DECODER = {**_SMALL, "num_key_value_heads": 2, "pad_token_id": 0, "attn_implementation": "eager"}


def _model(
    kind: str, config: hf.PretrainedConfig, names: tuple[str, ...], wanted: tuple[str, ...] = ()
) -> torch.nn.Module:
    config.use_cache = False
    config._attn_implementation = "eager"
    config.return_dict = True
    return Outputs(getattr(hf, kind)(config), wanted, names)


def _encoder(kind: str, config: type, **more: object) -> Callable[[], torch.nn.Module]:
    return lambda: _model(kind, config(**{**_SMALL, **more}), ("input_ids", "attention_mask"), ("last_hidden_state",))


def _masked(first: int, second: int = 0) -> dict[str, Input]:
    second = second or first
    return {**tokens(first, second), "attention_mask": Input((1, first), (1, second), torch.int64)}


class Cached(torch.nn.Module):
    """One step of a decoder with its cache as inputs and outputs: keys and values of each layer."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        cache = hf.DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        found = self.inner(input_ids=input_ids, past_key_values=cache, use_cache=True)
        kept = [tensor for layer in found.past_key_values.layers for tensor in (layer.keys, layer.values)]
        return (found.logits, *kept)


def _cached(kind: str, config: Callable[[], hf.PretrainedConfig]) -> Callable[[], torch.nn.Module]:
    def make() -> torch.nn.Module:
        made = config()
        made._attn_implementation = "eager"
        return Cached(getattr(hf, kind)(made))

    return make


def _past(layers: int, heads: int, size: int, first: int, second: int) -> dict[str, Input]:
    names = [f"past_{layer}_{part}" for layer in range(layers) for part in ("key", "value")]
    return {name: Input((1, heads, first, size), (1, heads, second, size)) for name in names}


_LLAMA = {"num_key_value_heads": 2, "pad_token_id": 0}
_ONE_PAST = {
    "input_ids": {1: "steps"},
    **{f"past_{layer}_{part}": {2: "past"} for layer in range(2) for part in ("key", "value")},
}


def _decoder(kind: str, config: type, **more: object) -> Callable[[], torch.nn.Module]:
    return lambda: _model(kind, config(**{**_DECODER, **more}), ("input_ids", "attention_mask"), ("logits",))


ENTRIES = {
    "BERT": Entry("language", _encoder("BertModel", hf.BertConfig), _masked(16, 24)),
    "BERT (dynamo)": Entry(
        "language",
        _encoder("BertModel", hf.BertConfig),
        _masked(16, 24),
        "dynamo",
        20,
        {"input_ids": {1: "n"}, "attention_mask": {1: "n"}},
    ),
    "RoBERTa": Entry("language", _encoder("RobertaModel", hf.RobertaConfig, pad_token_id=1), _masked(16, 24)),
    "ELECTRA": Entry("language", _encoder("ElectraModel", hf.ElectraConfig, embedding_size=32), _masked(16, 24)),
    "ALBERT": Entry("language", _encoder("AlbertModel", hf.AlbertConfig, embedding_size=32), _masked(16, 24)),
    "DistilBERT": Entry(
        "language",
        lambda: _model(
            "DistilBertModel",
            hf.DistilBertConfig(
                vocab_size=100, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=128
            ),
            ("input_ids", "attention_mask"),
            ("last_hidden_state",),
        ),
        _masked(16, 24),
    ),
    "DeBERTa v2": Entry(
        "language",
        _encoder(
            "DebertaV2Model",
            hf.DebertaV2Config,
            relative_attention=True,
            position_buckets=16,
            pos_att_type=["p2c", "c2p"],
            type_vocab_size=0,
        ),
        _masked(16),
    ),
    "MobileBERT": Entry(
        "language",
        _encoder(
            "MobileBertModel", hf.MobileBertConfig, embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32
        ),
        _masked(16, 24),
    ),
    "SqueezeBERT": Entry(
        "language",
        _encoder(
            "SqueezeBertModel",
            hf.SqueezeBertConfig,
            embedding_size=64,
            q_groups=2,
            k_groups=2,
            v_groups=2,
            output_groups=2,
            intermediate_groups=2,
        ),
        _masked(16, 24),
    ),
    "MPNet": Entry("language", _encoder("MPNetModel", hf.MPNetConfig), _masked(16, 24)),
    "GPT-2": Entry(
        "language",
        lambda: _model(
            "GPT2LMHeadModel",
            hf.GPT2Config(vocab_size=100, n_embd=64, n_layer=2, n_head=4, n_positions=128),
            ("input_ids", "attention_mask"),
            ("logits",),
        ),
        _masked(16, 24),
    ),
    "GPT-2, a step with cache": Entry(
        "language",
        _cached(
            "GPT2LMHeadModel", lambda: hf.GPT2Config(vocab_size=100, n_embd=64, n_layer=2, n_head=4, n_positions=128)
        ),
        {**tokens(1), **_past(2, 4, 16, 8, 20)},
        axes=_ONE_PAST,
    ),
    "OPT": Entry(
        "language", _decoder("OPTForCausalLM", hf.OPTConfig, ffn_dim=128, word_embed_proj_dim=64), _masked(16, 24)
    ),
    "GPT-NeoX": Entry("language", _decoder("GPTNeoXForCausalLM", hf.GPTNeoXConfig), _masked(16, 24)),
    "BLOOM": Entry(
        "language",
        lambda: _model(
            "BloomForCausalLM",
            hf.BloomConfig(vocab_size=100, hidden_size=64, n_layer=2, n_head=4),
            ("input_ids", "attention_mask"),
            ("logits",),
        ),
        _masked(16),
    ),
    "Llama": Entry("language", _decoder("LlamaForCausalLM", hf.LlamaConfig), _masked(16, 24)),
    "Llama (dynamo)": Entry("language", _decoder("LlamaForCausalLM", hf.LlamaConfig), _masked(16, 24), "dynamo", 20),
    "Llama, a step with cache": Entry(
        "language",
        _cached("LlamaForCausalLM", lambda: hf.LlamaConfig(**{**_SMALL, **_LLAMA})),
        {**tokens(1), **_past(2, 2, 16, 8, 20)},
        axes=_ONE_PAST,
    ),
    "Llama, prefill with cache": Entry(
        "language",
        _cached("LlamaForCausalLM", lambda: hf.LlamaConfig(**{**_SMALL, **_LLAMA})),
        {**tokens(4, 6), **_past(2, 2, 16, 8, 20)},
        axes=_ONE_PAST,
    ),
    "Mistral": Entry("language", _decoder("MistralForCausalLM", hf.MistralConfig, sliding_window=8), _masked(16, 24)),
    "Qwen2": Entry("language", _decoder("Qwen2ForCausalLM", hf.Qwen2Config), _masked(16, 24)),
    "Qwen3": Entry("language", _decoder("Qwen3ForCausalLM", hf.Qwen3Config, head_dim=16), _masked(16, 24)),
    "Qwen3, a step with cache": Entry(
        "language",
        _cached("Qwen3ForCausalLM", lambda: hf.Qwen3Config(**{**_SMALL, **_LLAMA, "head_dim": 16})),
        {**tokens(1), **_past(2, 2, 16, 8, 20)},
        axes=_ONE_PAST,
    ),
    "Gemma 2": Entry(
        "language", _decoder("Gemma2ForCausalLM", hf.Gemma2Config, head_dim=16, sliding_window=8), _masked(16, 24)
    ),
    "Phi": Entry("language", _decoder("PhiForCausalLM", hf.PhiConfig), _masked(16, 24)),
    "Phi-3": Entry("language", _decoder("Phi3ForCausalLM", hf.Phi3Config), _masked(16, 24)),
    "Falcon": Entry(
        "language",
        lambda: _model(
            "FalconForCausalLM",
            hf.FalconConfig(vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4),
            ("input_ids", "attention_mask"),
            ("logits",),
        ),
        _masked(16, 24),
    ),
    "Mamba": Entry(
        "language",
        lambda: _model(
            "MambaForCausalLM",
            hf.MambaConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, state_size=8),
            ("input_ids",),
            ("logits",),
        ),
        tokens(12),
    ),
    "Mixtral": Entry("language", _decoder("MixtralForCausalLM", hf.MixtralConfig, num_local_experts=4), _masked(16)),
    "T5 encoder": Entry(
        "language",
        lambda: Outputs(
            hf.T5EncoderModel(hf.T5Config(vocab_size=100, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)),
            ["last_hidden_state"],
            ["input_ids", "attention_mask"],
        ),
        _masked(16, 24),
    ),
    "T5": Entry(
        "language",
        lambda: Outputs(
            hf.T5ForConditionalGeneration(
                hf.T5Config(vocab_size=100, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)
            ),
            ["logits"],
            ["input_ids", "decoder_input_ids"],
            use_cache=False,
        ),
        {**tokens(16, 24), **tokens(8, 10, name="decoder_input_ids")},
    ),
    "BART": Entry(
        "language",
        lambda: Outputs(
            hf.BartModel(
                hf.BartConfig(
                    vocab_size=100,
                    d_model=64,
                    encoder_layers=2,
                    decoder_layers=2,
                    encoder_attention_heads=4,
                    decoder_attention_heads=4,
                    encoder_ffn_dim=128,
                    decoder_ffn_dim=128,
                    max_position_embeddings=128,
                )
            ),
            ["last_hidden_state"],
            ["input_ids", "decoder_input_ids"],
            use_cache=False,
        ),
        {**tokens(16, 24), **tokens(8, 10, name="decoder_input_ids")},
    ),
    "CLIP": Entry(
        "multimodal",
        lambda: Outputs(
            hf.CLIPModel(
                hf.CLIPConfig(
                    text_config={**_SMALL, "eos_token_id": 99},
                    vision_config={
                        "hidden_size": 64,
                        "intermediate_size": 128,
                        "num_hidden_layers": 2,
                        "num_attention_heads": 4,
                        "image_size": 64,
                        "patch_size": 16,
                    },
                    projection_dim=32,
                )
            ),
            ["logits_per_image"],
            ["input_ids", "pixel_values"],
        ),
        {**tokens(12, 16), "pixel_values": Input((1, 3, 64, 64))},
    ),
    "SigLIP vision": Entry(
        "multimodal",
        lambda: Outputs(
            hf.SiglipVisionModel(
                hf.SiglipVisionConfig(
                    hidden_size=64,
                    intermediate_size=128,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    image_size=64,
                    patch_size=16,
                )
            ),
            ["last_hidden_state"],
        ),
        image(64),
    ),
    "ViT (transformers)": Entry(
        "classification",
        lambda: Outputs(
            hf.ViTModel(
                hf.ViTConfig(
                    hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=64
                )
            ),
            ["last_hidden_state"],
        ),
        image(64),
    ),
    "DINOv2": Entry(
        "classification",
        lambda: Outputs(
            hf.Dinov2Model(
                hf.Dinov2Config(
                    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=56, patch_size=14
                )
            ),
            ["last_hidden_state"],
        ),
        image(56),
    ),
    "SegFormer": Entry(
        "segmentation",
        lambda: Outputs(hf.SegformerForSemanticSegmentation(hf.SegformerConfig(num_labels=5)), ["logits"]),
        image(64, 96),
    ),
    "MobileViT (transformers)": Entry(
        "segmentation",
        lambda: Outputs(
            hf.MobileViTForSemanticSegmentation(hf.MobileViTConfig(num_labels=5, image_size=128)), ["logits"]
        ),
        image(128),
    ),
    "DETR": Entry(
        "detection",
        lambda: Outputs(
            hf.DetrForObjectDetection(
                hf.DetrConfig(
                    use_timm_backbone=False,
                    backbone_config=hf.ResNetConfig(
                        embedding_size=16,
                        hidden_sizes=[16, 32, 48, 64],
                        depths=[1, 1, 1, 1],
                        layer_type="basic",
                        out_features=["stage4"],
                    ),
                    use_pretrained_backbone=False,
                    backbone=None,
                    d_model=32,
                    encoder_layers=2,
                    decoder_layers=2,
                    encoder_attention_heads=4,
                    decoder_attention_heads=4,
                    encoder_ffn_dim=64,
                    decoder_ffn_dim=64,
                    num_queries=10,
                )
            ),
            ["logits", "pred_boxes"],
        ),
        image(96),
    ),
    "YOLOS": Entry(
        "detection",
        lambda: Outputs(
            hf.YolosForObjectDetection(
                hf.YolosConfig(
                    hidden_size=64,
                    intermediate_size=128,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    image_size=[64, 64],
                    num_detection_tokens=10,
                )
            ),
            ["logits", "pred_boxes"],
        ),
        image(64),
    ),
    "DPT": Entry(
        "depth",
        lambda: Outputs(
            hf.DPTForDepthEstimation(
                hf.DPTConfig(
                    hidden_size=64,
                    intermediate_size=128,
                    num_hidden_layers=4,
                    num_attention_heads=4,
                    image_size=64,
                    patch_size=16,
                    backbone_out_indices=[0, 1, 2, 3],
                    neck_hidden_sizes=[16, 32, 48, 64],
                    fusion_hidden_size=32,
                    is_hybrid=False,
                )
            ),
            ["predicted_depth"],
        ),
        image(64),
    ),
    "Whisper encoder": Entry(
        "speech",
        lambda: Outputs(
            hf.WhisperModel(
                hf.WhisperConfig(
                    vocab_size=100,
                    d_model=64,
                    encoder_layers=2,
                    decoder_layers=2,
                    encoder_attention_heads=4,
                    decoder_attention_heads=4,
                    encoder_ffn_dim=128,
                    decoder_ffn_dim=128,
                    max_source_positions=50,
                    pad_token_id=0,
                    bos_token_id=1,
                    eos_token_id=2,
                    decoder_start_token_id=1,
                )
            ).encoder,
            ["last_hidden_state"],
        ),
        {"input_features": Input((1, 80, 100))},
    ),
    "Whisper": Entry(
        "speech",
        lambda: Outputs(
            hf.WhisperModel(
                hf.WhisperConfig(
                    vocab_size=100,
                    d_model=64,
                    encoder_layers=2,
                    decoder_layers=2,
                    encoder_attention_heads=4,
                    decoder_attention_heads=4,
                    encoder_ffn_dim=128,
                    decoder_ffn_dim=128,
                    max_source_positions=50,
                    max_target_positions=64,
                    pad_token_id=0,
                    bos_token_id=1,
                    eos_token_id=2,
                    decoder_start_token_id=1,
                )
            ),
            ["last_hidden_state"],
            ["input_features", "decoder_input_ids"],
            use_cache=False,
        ),
        {"input_features": Input((1, 80, 100)), **tokens(6, 9, name="decoder_input_ids")},
    ),
    "wav2vec 2.0": Entry(
        "speech",
        lambda: Outputs(
            hf.Wav2Vec2Model(
                hf.Wav2Vec2Config(
                    vocab_size=32,
                    hidden_size=64,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=128,
                    conv_dim=[32] * 7,
                )
            ),
            ["last_hidden_state"],
        ),
        {"wave": Input((1, 8000), (1, 12000))},
    ),
    "HuBERT": Entry(
        "speech",
        lambda: Outputs(
            hf.HubertModel(
                hf.HubertConfig(
                    vocab_size=32,
                    hidden_size=64,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=128,
                    conv_dim=[32] * 7,
                )
            ),
            ["last_hidden_state"],
        ),
        {"wave": Input((1, 8000), (1, 12000))},
    ),
    "Conformer": Entry(
        "speech",
        lambda: Outputs(
            hf.Wav2Vec2ConformerModel(
                hf.Wav2Vec2ConformerConfig(
                    vocab_size=32,
                    hidden_size=64,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=128,
                    conv_dim=[32] * 7,
                    position_embeddings_type="rotary",
                )
            ),
            ["last_hidden_state"],
        ),
        {"wave": Input((1, 8000), (1, 12000))},
    ),
    "AST": Entry(
        "speech",
        lambda: Outputs(
            hf.ASTModel(
                hf.ASTConfig(
                    hidden_size=64,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=128,
                    max_length=128,
                    num_mel_bins=64,
                )
            ),
            ["last_hidden_state"],
        ),
        {"features": Input((1, 128, 64))},
    ),
    "EnCodec": Entry(
        "speech",
        lambda: Outputs(hf.EncodecModel(hf.EncodecConfig(hidden_size=32, num_filters=8)).encoder),
        {"wave": Input((1, 1, 3200))},
    ),
    "SpeechT5 HiFi-GAN": Entry(
        "speech",
        lambda: Outputs(hf.SpeechT5HifiGan(hf.SpeechT5HifiGanConfig(upsample_initial_channel=64, model_in_dim=80))),
        {"spectrogram": Input((1, 20, 80), (1, 30, 80))},
    ),
}
