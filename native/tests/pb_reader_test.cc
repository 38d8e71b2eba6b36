#include "native/runtime/pb_reader.h"

#include <gtest/gtest.h>

#include "native/tests/container_builder.h"

namespace lathe_test {
namespace {

using lathe::PbBytes;
using lathe::PbField;
using lathe::PbReader;
using lathe::PbScalars;

PbBytes View(const std::string& text) { return PbBytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()); }

TEST(PbReader, ReadsEveryWireType) {
  PbWriter writer;
  writer.Varint(1, UINT64_MAX).Bytes(2, "text").Float(3, 1.5f).ZigZag(4, -3);
  const std::string bytes = writer.bytes() + std::string("\x29\x01\x00\x00\x00\x00\x00\x00\x80", 9);
  PbReader reader(View(bytes));
  PbField field;
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.tag, lathe::PbVarint(1));
  EXPECT_EQ(field.scalar, UINT64_MAX);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.tag, lathe::PbString(2));
  EXPECT_EQ(std::string(field.bytes.begin(), field.bytes.end()), "text");
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.tag, lathe::PbFixed32(3));
  EXPECT_EQ(field.Float(), 1.5f);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.ZigZag(), -3);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.scalar, 0x8000000000000001u);
  EXPECT_FALSE(reader.Next(&field));
  EXPECT_TRUE(reader.ok());
}

TEST(PbReader, NoticesEveryCut) {
  const std::string bytes = PbWriter().Varint(1, 300).Bytes(2, "text").Float(3, 1).bytes();
  const std::vector<size_t> whole = {0, 3, 9, 14};  // where fields end
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    PbReader reader(View(cut));
    PbField field;
    while (reader.Next(&field)) {
    }
    EXPECT_EQ(reader.ok(), std::find(whole.begin(), whole.end(), size) != whole.end()) << size;
  }
}

TEST(PbReader, RefusesWhatIsNoField) {
  const std::string bad[] = {
      std::string("\x00\x00", 2),                          // field number 0
      "\x0b\x0c",                                          // a group
      "\x0f",                                              // wire type 7
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",      // more than 64 bits
      "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",  // more than 10 bytes
      "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",      // a length of 2^64 - 1
      "\xf8\xff\xff\xff\xff\x01\x01",                      // a tag beyond 32 bits
  };
  for (const std::string& bytes : bad) {
    PbReader reader(View(bytes));
    PbField field;
    while (reader.Next(&field)) {
    }
    EXPECT_FALSE(reader.ok());
  }
}

TEST(PbScalars, TakesPackedAndSingleElements) {
  const std::string bytes =
      PbWriter().Packed(3, {1, 300}).Varint(3, 7).Varint(4, 9).Packed(3, {}).Packed(3, {8}).bytes();
  PbScalars scalars(View(bytes), lathe::PbVarint(3));
  PbField field;
  std::vector<uint64_t> seen;
  while (scalars.Next(&field)) seen.push_back(field.scalar);
  EXPECT_TRUE(scalars.ok());
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 300, 7, 8}));
  EXPECT_EQ(PbScalars::Count(View(bytes), lathe::PbVarint(3)), 4u);

  const std::string floats = PbWriter().Bytes(1, std::string("\0\0\x80\x3f\0\0\0", 7)).bytes();
  PbScalars broken(View(floats), lathe::PbFixed32(1));
  ASSERT_TRUE(broken.Next(&field));
  EXPECT_EQ(field.Float(), 1.0f);
  EXPECT_FALSE(broken.Next(&field));
  EXPECT_FALSE(broken.ok());
}

}  // namespace
}  // namespace lathe_test
