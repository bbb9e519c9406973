// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The settings that depend on the seed: codec, checksum algorithm, injected faults. */
final class RandomSettings {
  private static final List<String> CODECS = List.of("lz4", "zstd", "snappy", "lzf", "none");
  private static final List<String> CHECKSUMS = List.of("ADLER32", "CRC32", "CRC32C");

  /** Probability of each fault for one operation; READs are far more frequent than connections. */
  private static final String FAULTS =
      "read-error%0.0005,flip-bit%0.0005,hang%0.0002,delay%0.002:50ms,drop-connection%0.0003"
          + ",send-error%0.0005,send-hang%0.0002,refuse-connect%0.05,hang-connect%0.03"
          + ",register-error%0.01,seed=";

  private RandomSettings() {}

  /**
   * @param faults whether the plug-in's engine injects faults
   */
  static Map<String, String> of(long seed, boolean faults) {
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
    if (faults) {
      randomSettings.put(
          "spark.shuffle.rdma.soft.faults", FAULTS + random.nextInt(Integer.MAX_VALUE));
    }
    return randomSettings;
  }
}
