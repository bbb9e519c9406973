// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class TeraRecordsTest {
  @Test
  void shouldWriteTheRowNumberInHexadecimal() {
    byte[] value = new TeraRecords(0xABC, 0xABD).next()._2.copyBytes();
    assertThat(new String(value, 2, 32, StandardCharsets.US_ASCII))
        .isEqualTo("00000000000000000000000000000ABC");
  }

  @Test
  void shouldMakeRecordsOfOneHundredBytesWithBothMarks() {
    var record = new TeraRecords(7, 8).next();
    assertThat(record._1.getLength()).isEqualTo(TeraRecords.KEY_BYTES);
    assertThat(record._2.getLength()).isEqualTo(TeraRecords.VALUE_BYTES);
    String value = HexFormat.of().formatHex(record._2.copyBytes());
    assertThat(value.substring(68, 76)).isEqualTo("8899aabb");
    assertThat(value.substring(172)).isEqualTo("ccddeeff");
  }

  @Test
  void shouldGiveTheSameRecordsHoweverTheRangeIsCut() {
    List<String> cut = hex(new TeraRecords(0, 10));
    cut.addAll(hex(new TeraRecords(10, 25)));
    assertThat(cut).isEqualTo(hex(new TeraRecords(0, 25))).doesNotHaveDuplicates();
  }

  @Test
  void shouldEndAfterTheLastRow() {
    TeraRecords none = new TeraRecords(3, 3);
    assertThat(none.hasNext()).isFalse();
    assertThatThrownBy(none::next).isInstanceOf(NoSuchElementException.class);
  }

  private static List<String> hex(TeraRecords records) {
    List<String> all = new ArrayList<>();
    records.forEachRemaining(
        pair ->
            all.add(
                HexFormat.of().formatHex(pair._1.copyBytes())
                    + HexFormat.of().formatHex(pair._2.copyBytes())));
    return all;
  }
}
