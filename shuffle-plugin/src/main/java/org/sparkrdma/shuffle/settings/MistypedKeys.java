// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sparkrdma.verbs.Verbs;

/**
 * Keys that are meant for this plug-in and do not reach it, because their first part is mistyped or
 * missing. Spark ignores them without an error. Stateless.
 */
public final class MistypedKeys {
  /** Each key of Spark has a larger distance from each key of this plug-in. */
  private static final int MAX_DISTANCE = 3;

  private static final String SPARK = "spark.";
  private static final String SHUFFLE = "spark.shuffle.";
  private static final String RDMA = "rdma.";
  private static final String MANAGER = "spark.shuffle.manager";

  private MistypedKeys() {}

  /**
   * The mistyped keys, each with the key that is probably meant; without one for a key that names
   * RDMA and is not like any.
   *
   * @param keys of Spark and others; those with the prefix of this plug-in are left out
   */
  public static Map<String, Optional<String>> of(Collection<String> keys) {
    Set<String> ofEngines = new EngineKeys(Verbs.providers()).names();
    Set<String> known = UnknownSetting.known(ofEngines);
    Set<String> candidates = new TreeSet<>(known);
    candidates.add(MANAGER);
    Map<String, Optional<String>> mistyped = new TreeMap<>();
    for (String key : keys) {
      if (!key.startsWith(ShuffleSetting.PREFIX) && !candidates.contains(key)) {
        String lower = key.toLowerCase(Locale.ROOT);
        Optional<String> meant =
            withPrefix(lower, known)
                .or(() -> afterRdma(lower, ofEngines))
                .or(() -> EditDistance.nearest(lower, candidates, MAX_DISTANCE))
                .or(() -> withoutSpark(lower, candidates));
        if (meant.isPresent() || lower.contains("rdma")) {
          mistyped.put(key, meant);
        }
      }
    }
    return mistyped;
  }

  /** A key of this plug-in without its prefix, or with {@code spark.shuffle.} only. */
  private static Optional<String> withPrefix(String key, Set<String> known) {
    String name = key.startsWith(SHUFFLE) ? key.substring(SHUFFLE.length()) : key;
    return Optional.of(ShuffleSetting.PREFIX + name).filter(known::contains);
  }

  private static Optional<String> afterRdma(String key, Set<String> ofEngines) {
    int at = key.lastIndexOf(RDMA);
    return at < 0
        ? Optional.empty()
        : UnknownSetting.nearest(key.substring(at + RDMA.length()), ofEngines);
  }

  private static Optional<String> withoutSpark(String key, Set<String> candidates) {
    return key.startsWith(SPARK)
        ? Optional.empty()
        : EditDistance.nearest(SPARK + key, candidates, MAX_DISTANCE)
            .or(() -> EditDistance.nearest(SHUFFLE + key, candidates, MAX_DISTANCE));
  }
}
