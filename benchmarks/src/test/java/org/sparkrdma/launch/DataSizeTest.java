// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DataSizeTest {
  @ParameterizedTest
  @CsvSource({
    "4k,4096",
    "1m,1048576",
    "100M,104857600",
    "1g,1073741824",
    "2gb,2147483648",
    "1t,1099511627776"
  })
  void shouldReadSizesInPowersOf1024(String text, long bytes) {
    assertThat(DataSize.parse(text).bytes()).isEqualTo(bytes);
  }

  @Test
  void shouldRefuseASizeBeyondCounting() {
    assertThatThrownBy(() -> DataSize.parse("999999999t")).hasMessageContaining("is too large");
  }

  @ParameterizedTest
  @CsvSource({"0,0 B", "1023,1023 B", "1024,1 KiB", "1572864,1.5 MiB", "1099511627776,1 TiB"})
  void shouldPrintTheLargestUnitThatFits(long bytes, String text) {
    assertThat(new DataSize(bytes)).hasToString(text);
  }
}
