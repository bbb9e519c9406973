// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The settings that differ from soak to soak: codec, checksum, what the engine does wrong. */
final class RandomSettings {
  private static final List<String> CODECS = List.of("lz4", "zstd", "snappy", "lzf", "none");
  private static final List<String> CHECKSUMS = List.of("ADLER32", "CRC32", "CRC32C");

  /** Chances of one operation; READs are the many, connections the few. */
  private static final String FAULTS =
      "read-error%0.0005,flip-bit%0.0005,hang%0.0002,delay%0.002:50ms,drop-connection%0.0003"
          + ",send-error%0.0005,send-hang%0.0002,refuse-connect%0.05,hang-connect%0.03"
          + ",register-error%0.01,seed=";

  private RandomSettings() {}

  static Map<String, String> of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, String> randomSettings = new TreeMap<>();
    String codec = CODECS.get(random.nextInt(CODECS.size()));
    if (codec.equals("none")) {
      randomSettings.put("spark.shuffle.compress", "false");
    } else {
      randomSettings.put("spark.io.compression.codec", codec);
    }
    randomSettings.put(
        "spark.shuffle.checksum.algorithm", CHECKSUMS.get(random.nextInt(CHECKSUMS.size())));
    randomSettings.put(
        "spark.shuffle.rdma.soft.faults", FAULTS + random.nextInt(Integer.MAX_VALUE));
    return randomSettings;
  }
}
