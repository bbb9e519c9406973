// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The test vectors of RFC 4231, section 4. */
class HmacTest {
  private static final HexFormat HEX = HexFormat.of();

  @ParameterizedTest
  @CsvSource({
    // Test case 1
    "0b, 20, 4869205468657265, 1,"
        + "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    // Test case 2: a key shorter than the length of the result
    "4a656665, 1, 7768617420646f2079612077616e7420666f72206e6f7468696e673f, 1,"
        + "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    // Test case 3: key and data together longer than 64 bytes
    "aa, 20, dd, 50, 773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    // Test case 4
    "0102030405060708090a0b0c0d0e0f10111213141516171819, 1, cd, 50,"
        + "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    // Test case 5: the result is cut to 128 bits
    "0c, 20, 546573742057697468205472756e636174696f6e, 1, a3b6167473100ee06e0c796c2955552b",
    // Test cases 6 and 7: a key, and then also data, longer than a block
    "aa, 131, 54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b657920"
        + "2d2048617368204b6579204669727374, 1,"
        + "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    "aa, 131, 5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f"
        + "636b2d73697a65206b657920616e642061206c6172676572207468616e20626c6f636b2d7369"
        + "7a6520646174612e20546865206b6579206e6565647320746f20626520686173686564206265"
        + "666f7265206265696e6720757365642062792074686520484d414320616c676f726974686d2e, 1,"
        + "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
  })
  void shouldMatchTheTestVectors(
      String key, int keyTimes, String data, int dataTimes, String expected) {
    byte[] answer = Hmac.withKey(repeat(key, keyTimes)).doFinal(repeat(data, dataTimes));
    assertThat(HEX.formatHex(Arrays.copyOf(answer, expected.length() / 2))).isEqualTo(expected);
  }

  private static byte[] repeat(String hex, int times) {
    return HEX.parseHex(hex.repeat(times));
  }
}
