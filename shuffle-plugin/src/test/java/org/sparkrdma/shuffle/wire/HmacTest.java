// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static java.nio.charset.StandardCharsets.US_ASCII;
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
    "0c, 20, 546573742057697468205472756e636174696f6e, 1, a3b6167473100ee06e0c796c2955552b"
  })
  void shouldMatchTheTestVectors(
      String key, int keyTimes, String data, int dataTimes, String expected) {
    assertAnswer(repeat(key, keyTimes), repeat(data, dataTimes), expected);
  }

  /** Test cases 6 and 7. */
  @ParameterizedTest
  @CsvSource({
    "Test Using Larger Than Block-Size Key - Hash Key First,"
        + "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    "This is a test using a larger than block-size key and a larger than block-size data."
        + " The key needs to be hashed before being used by the HMAC algorithm.,"
        + "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
  })
  void shouldMatchTheTestVectorsForLongKeys(String data, String expected) {
    assertAnswer(repeat("aa", 131), data.getBytes(US_ASCII), expected);
  }

  private static byte[] repeat(String hex, int times) {
    return HEX.parseHex(hex.repeat(times));
  }

  private static void assertAnswer(byte[] key, byte[] data, String expected) {
    byte[] answer = Hmac.withKey(key).doFinal(data);
    assertThat(HEX.formatHex(Arrays.copyOf(answer, expected.length() / 2))).isEqualTo(expected);
  }
}
