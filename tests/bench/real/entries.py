"""The networks that PyTorch exports, with random weights. Imported by the exporting process only."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from tests.gallery.entries import Entry, Input, Outputs, image, tokens  # isort: skip (before torchvision)

import timm
import torch
import torchvision
import transformers as hf
from torch import nn
from torch.nn import functional

from tests.bench.real.names import EXPORTED
from tests.gallery import custom
from tests.gallery.language import Cached

_NO_WEIGHTS: dict[str, object] = {"weights": None, "weights_backbone": None}


class Heads(nn.Module):
    """A detector of torchvision up to the scores and offsets of its anchors: what peers can run as well."""

    def __init__(self) -> None:
        super().__init__()
        inner = torchvision.models.get_model("ssdlite320_mobilenet_v3_large", **_NO_WEIGHTS)
        self.backbone, self.head = inner.backbone, inner.head

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = self.head(list(self.backbone(image).values()))
        return found["cls_logits"].softmax(2), found["bbox_regression"]


class Blaze(nn.Module):
    """The blocks of MediaPipe's detectors of faces (3x3, ReLU) and hands (5x5, PReLU), with two heads.

    `blocks`: width and stride of each; the first convolution has the width of the first block.
    """

    def __init__(self, blocks: list[tuple[int, int]], anchors: int, sizes: int, kernel: int, prelu: bool) -> None:
        super().__init__()
        widths = [blocks[0][0], *(width for width, _ in blocks)]
        pairs = list(itertools.pairwise(widths))
        self.strides = [stride for _, stride in blocks]
        self.first = nn.Conv2d(3, widths[0], 5, 2, 2)
        self.activations = nn.ModuleList(nn.PReLU(width) if prelu else nn.ReLU() for width in widths)
        self.depthwise = nn.ModuleList(
            nn.Conv2d(width, width, kernel, stride, kernel // 2, groups=width)
            for (width, _), stride in zip(pairs, self.strides, strict=True)
        )
        self.pointwise = nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in pairs)
        self.scores = nn.Conv2d(widths[-1], anchors, 1)
        self.boxes = nn.Conv2d(widths[-1], anchors * sizes, 1)
        self.sizes = sizes

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.activations[0](self.first(image))
        for layer, (depthwise, pointwise) in enumerate(zip(self.depthwise, self.pointwise, strict=True)):
            y = pointwise(depthwise(x))
            kept = functional.max_pool2d(x, 2) if self.strides[layer] == 2 else x
            kept = functional.pad(kept, (0, 0, 0, 0, 0, y.shape[1] - kept.shape[1]))
            x = self.activations[layer + 1](y + kept)
        boxes = self.boxes(x).permute(0, 2, 3, 1).reshape(1, -1, self.sizes)
        return self.scores(x).permute(0, 2, 3, 1).reshape(1, -1, 1).sigmoid(), boxes


class Person(nn.Module):
    """A segmentation network for phones: inverted residuals with hard swish and gates, transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        backbone = torchvision.models.get_model("mobilenet_v3_small", weights=None).features
        self.stages = nn.ModuleList([backbone[0], backbone[1], backbone[2:4], backbone[4:9]])
        self.narrow = nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in ((48, 24), (24, 24), (16, 16), (16, 16)))
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in ((24, 24), (24, 16), (16, 16), (16, 1)))
        self.mix = nn.ModuleList(nn.Conv2d(w, w, 3, 1, 1, groups=w) for w in (24, 16, 16))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        kept = []
        x = image
        for stage in self.stages:
            x = stage(x)
            kept.append(x)
        x = self.narrow[0](kept[3])
        for level in range(3):
            x = functional.relu(self.up[level](x) + self.narrow[level + 1](kept[2 - level]))
            x = x + functional.hardswish(self.mix[level](x))
        return self.up[3](x).sigmoid()


class Streaming(nn.Module):
    """A step of a keyword spotter: depthwise convolutions over time whose past frames come in and go out."""

    def __init__(self, width: int = 64, kernel: int = 9, layers: int = 4) -> None:
        super().__init__()
        self.first = nn.Conv1d(40, width, 1)
        self.depthwise = nn.ModuleList(nn.Conv1d(width, width, kernel, groups=width) for _ in range(layers))
        self.pointwise = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.last = nn.Linear(width, 12)

    def forward(self, frames: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = functional.relu(self.first(frames))
        states = []
        for depthwise, pointwise, state in zip(self.depthwise, self.pointwise, past, strict=True):
            window = torch.cat([state, x], 2)
            states.append(window[:, :, -state.shape[2] :])
            x = functional.relu(pointwise(functional.relu(depthwise(window))))
        return (self.last(x.mean(2)).softmax(1), *states)


class Tagger(nn.Module):
    def __init__(self, kind: type[nn.Module], second: type[nn.Module]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.first = kind(128, 128, bidirectional=True, batch_first=True)
        self.second = second(256, 128, batch_first=True)
        self.last = nn.Linear(128, 32)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.last(self.second(self.first(self.embedding(input_ids))[0])[0]).softmax(2)


class DecoderStep(nn.Module):
    """One token of Whisper's decoder: keys and values of earlier tokens come in and go out; the sound is an input."""

    def __init__(self, inner: hf.WhisperModel) -> None:
        super().__init__()
        self.inner, self.layers = inner.decoder, inner.config.decoder_layers

    def forward(self, input_ids: torch.Tensor, sound: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        own = hf.DynamicCache()
        for layer in range(self.layers):
            own.update(past[2 * layer], past[2 * layer + 1], layer)
        cache = hf.EncoderDecoderCache(own, hf.DynamicCache())
        found = self.inner(input_ids=input_ids, encoder_hidden_states=sound, past_key_values=cache, use_cache=True)
        kept = found.past_key_values.self_attention_cache.layers
        return (found.last_hidden_state, *(tensor for layer in kept for tensor in (layer.keys, layer.values)))


def _vision(name: str, **options: object) -> Callable[[], nn.Module]:
    return lambda: torchvision.models.get_model(name, weights=None, **options)


def _timm(name: str) -> Callable[[], nn.Module]:
    return lambda: timm.create_model(name, pretrained=False)


def _eager(config: hf.PretrainedConfig) -> hf.PretrainedConfig:
    config._attn_implementation = "eager"
    return config


def _bert(layers: int, width: int) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        config = hf.BertConfig(
            vocab_size=5000,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            intermediate_size=4 * width,
            use_cache=False,
        )
        names = ("input_ids", "attention_mask")
        return Outputs(hf.BertModel(_eager(config)), ["last_hidden_state"], names)

    return make


def _distilbert() -> nn.Module:
    model = hf.DistilBertModel(_eager(hf.DistilBertConfig(vocab_size=5000)))
    return Outputs(model, ["last_hidden_state"], ("input_ids", "attention_mask"))


def _masked(count: int) -> dict[str, Input]:
    return {**tokens(count, vocabulary=5000), "attention_mask": Input((1, count), (), torch.int64)}


def _whisper() -> hf.WhisperModel:
    config = hf.WhisperConfig(
        vocab_size=5000,
        d_model=384,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=6,
        decoder_attention_heads=6,
        encoder_ffn_dim=1536,
        decoder_ffn_dim=1536,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return hf.WhisperModel(_eager(config))


_LLAMA_LAYERS = 8


def _llama() -> nn.Module:
    config = hf.LlamaConfig(
        vocab_size=16000,
        hidden_size=640,
        num_hidden_layers=_LLAMA_LAYERS,
        num_attention_heads=10,
        num_key_value_heads=5,
        intermediate_size=1728,
        max_position_embeddings=512,
    )
    return Cached(hf.LlamaForCausalLM(_eager(config)))


def _past(layers: int, heads: int, size: int, length: int) -> dict[str, Input]:
    names = [f"past_{layer}_{part}" for layer in range(layers) for part in ("key", "value")]
    return {name: Input((1, heads, length, size)) for name in names}


def _wav2vec() -> nn.Module:
    config = hf.Wav2Vec2Config(
        vocab_size=32,
        hidden_size=384,
        num_hidden_layers=4,
        num_attention_heads=6,
        intermediate_size=1536,
        conv_dim=[256] * 7,
    )
    return Outputs(hf.Wav2Vec2Model(_eager(config)), ["last_hidden_state"])


def _encoder_of_whisper() -> nn.Module:
    return Outputs(_whisper().encoder, ["last_hidden_state"])


_FACE = [(24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2), (56, 1), (64, 1), (72, 1), (80, 1), (88, 1)]
_FACE += [(96, 2), (96, 1), (96, 1), (96, 1), (96, 1)]
_HAND = [(32, 1)] * 4 + [(64, 2)] + [(64, 1)] * 4 + [(128, 2)] + [(128, 1)] * 4 + [(256, 2)] + [(256, 1)] * 4

ENTRIES: dict[str, Entry] = {
    "yolo_320": Entry("detection", lambda: custom.Yolo(classes=80, bins=16), image(320)),
    "yolo_640": Entry("detection", lambda: custom.Yolo(classes=80, bins=16), image(640)),
    "ssdlite_320": Entry("detection", Heads, image(320)),
    "face_128": Entry("faces", lambda: Blaze(_FACE, 6, 16, 3, False), image(128)),
    "hand_192": Entry("hands", lambda: Blaze(_HAND, 2, 18, 5, True), image(192)),
    "unet_256": Entry("segmentation", lambda: custom.UNet(True), image(256)),
    "person_256": Entry("segmentation", Person, image(256)),
    "efficientnet_b0": Entry("classification", _vision("efficientnet_b0"), image(224)),
    "mobilenet_v3_large": Entry("classification", _vision("mobilenet_v3_large"), image(224)),
    "mobilenet_v4_small": Entry("classification", _timm("mobilenetv4_conv_small"), image(224)),
    "regnet_y_400mf": Entry("classification", _vision("regnet_y_400mf"), image(224)),
    "convnext_tiny": Entry("classification", _vision("convnext_tiny"), image(224)),
    "vit_tiny": Entry("classification", _timm("vit_tiny_patch16_224"), image(224)),
    "deit_tiny": Entry("classification", _timm("deit_tiny_distilled_patch16_224"), image(224)),
    "swin_tiny": Entry("classification", _timm("swin_tiny_patch4_window7_224"), image(224)),
    "bert_mini_32": Entry("language", _bert(4, 256), _masked(32)),
    "bert_mini_128": Entry("language", _bert(4, 256), _masked(128)),
    "bert_base_32": Entry("language", _bert(12, 768), _masked(32)),
    "bert_base_128": Entry("language", _bert(12, 768), _masked(128)),
    "distilbert_128": Entry("language", _distilbert, _masked(128)),
    "whisper_tiny_encoder": Entry("speech", _encoder_of_whisper, {"input_features": Input((1, 80, 3000))}),
    "whisper_tiny_decoder_step": Entry(
        "speech",
        lambda: DecoderStep(_whisper()),
        {**tokens(1, vocabulary=5000), "sound": Input((1, 1500, 384)), **_past(4, 6, 64, 32)},
    ),
    "llama_60m_prefill_64": Entry(
        "language", _llama, {**tokens(64, vocabulary=16000), **_past(_LLAMA_LAYERS, 5, 64, 1)}
    ),
    "llama_60m_decode_1": Entry("language", _llama, {**tokens(1, vocabulary=16000), **_past(_LLAMA_LAYERS, 5, 64, 64)}),
    "gru_tagger": Entry("language", lambda: Tagger(nn.GRU, nn.LSTM), tokens(40, vocabulary=5000)),
    "lstm_tagger": Entry("language", lambda: Tagger(nn.LSTM, nn.LSTM), tokens(40, vocabulary=5000)),
    "ds_cnn_streaming": Entry(
        "speech",
        Streaming,
        {"frames": Input((1, 40, 4)), **{f"past_{layer}": Input((1, 64, 8)) for layer in range(4)}},
    ),
    "wavenet": Entry("speech", lambda: custom.WaveNet(32), {"wave": Input((1, 1, 4000))}),
    "vad": Entry(
        "speech", custom.Vad, {"wave": Input((1, 512)), "hidden": Input((1, 1, 32)), "cell": Input((1, 1, 32))}
    ),
    "wav2vec": Entry("speech", _wav2vec, {"wave": Input((1, 16000))}),
}
assert set(ENTRIES) == set(EXPORTED)
