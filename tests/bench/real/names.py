"""The networks of the suite. `entries.py` makes those of EXPORTED, for which it needs PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

# Words of images and words of text: convolutions are computed in 8 bits too.
EXPORTED: dict[str, str] = {
    "yolo_320": "vision",
    "yolo_640": "vision",
    "ssdlite_320": "vision",
    "face_128": "vision",
    "hand_192": "vision",
    "unet_256": "vision",
    "person_256": "vision",
    "efficientnet_b0": "vision",
    "mobilenet_v3_large": "vision",
    "mobilenet_v4_small": "vision",
    "regnet_y_400mf": "vision",
    "convnext_tiny": "vision",
    "vit_tiny": "transformer",
    "deit_tiny": "transformer",
    "swin_tiny": "transformer",
    "bert_mini_32": "transformer",
    "bert_mini_128": "transformer",
    "bert_base_32": "transformer",
    "bert_base_128": "transformer",
    "distilbert_128": "transformer",
    "whisper_tiny_encoder": "transformer",
    "whisper_tiny_decoder_step": "transformer",
    "llama_60m_prefill_64": "transformer",
    "llama_60m_decode_1": "transformer",
    "gru_tagger": "sequence",
    "lstm_tagger": "sequence",
    "ds_cnn_streaming": "sequence",
    "wavenet": "sequence",
    "vad": "sequence",
    "wav2vec": "sequence",
}


@dataclass(frozen=True)
class Packaged:
    """A model inside a package: where it is and the sizes of its inputs."""

    package: str
    file: str  # its name in the archive
    shapes: dict[str, tuple[int, ...]]
    family: str


PACKAGED: dict[str, Packaged] = {
    "ocr_detection_480": Packaged(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        {"x": (1, 3, 480, 480)},
        "vision",
    ),
    "ocr_recognition_320": Packaged(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        {"x": (1, 3, 48, 320)},
        "vision",
    ),
    "ocr_direction": Packaged(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"x": (1, 3, 48, 192)},
        "vision",
    ),
}

NETWORKS = (*EXPORTED, *PACKAGED)
#: What `make bench-arm SUITE=real` counts: of each kind, and small enough for an emulator.
ON_ARM = (
    "face_128",
    "hand_192",
    "yolo_320",
    "ocr_recognition_320",
    "person_256",
    "unet_256",
    "efficientnet_b0",
    "mobilenet_v3_large",
    "vit_tiny",
    "bert_mini_32",
    "gru_tagger",
    "wavenet",
)


def family(name: str) -> str:
    """vision, transformer or sequence."""
    return EXPORTED[name] if name in EXPORTED else PACKAGED[name].family
