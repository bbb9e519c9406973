/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.pinned;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * How much an executor may pin, and how that was found.
 *
 * @param bytes the limit
 * @param derivation one sentence for the log
 * @param wantedBytes what it would be if as much as that could be locked
 * @param objections what speaks against the limit that the user set, a sentence each
 */
public record PinnedLimit(
    long bytes, String derivation, long wantedBytes, List<String> objections) {
  private static final long LEAST_BYTES = 1L << 20;

  /** When the host does not even say how much memory it has. */
  private static final long UNKNOWN_HOST_BYTES = 8L << 30;

  /** One part in so many of the host's memory, for all executors of it together. */
  private static final int HOST_PART = 4;

  /** An executor that is alone leaves half of that to others all the same. */
  private static final int LEAST_SHARERS = 2;

  /**
   * Takes what the user set, or the least of what the machine allows.
   *
   * @param set by the user; empty to derive it
   * @param hardware whether RLIMIT_MEMLOCK is charged, as it is for every real card
   */
  public static PinnedLimit of(
      Optional<Long> set, MachineMemory machine, SparkMemory spark, boolean hardware) {
    Derivation derived = new Derivation();
    int executors = spark.executorsOn(machine.physicalBytes(), machine.processors());
    long host =
        machine.physicalBytes().orElse(UNKNOWN_HOST_BYTES)
            / ((long) HOST_PART * Math.max(LEAST_SHARERS, executors));
    derived.consider(
        "1/"
            + HOST_PART * Math.max(LEAST_SHARERS, executors)
            + " of host memory, which may hold executors="
            + executors,
        host);
    OptionalLong left = leftByContainer(machine, spark);
    if (left.isPresent()) {
      derived.consider("1/2 of what the container leaves beside the heap", left.getAsLong() / 2);
    }
    if (spark.besideHeapBytes().isPresent()) {
      derived.consider(
          "1/2 of spark.executor.memoryOverhead", spark.besideHeapBytes().getAsLong() / 2);
    }
    long wanted = Math.max(derived.least, LEAST_BYTES);
    OptionalLong lockable = hardware ? machine.boundBytes() : OptionalLong.empty();
    if (set.isPresent()) {
      return new PinnedLimit(
          set.get(),
          "set by " + ShuffleSetting.PINNED_MAX.key(),
          set.get(),
          objections(set.get(), left, lockable));
    }
    if (lockable.isPresent()) {
      derived.consider("RLIMIT_MEMLOCK", lockable.getAsLong());
    } else if (hardware && machine.locksFreely()) {
      derived.text.append(", RLIMIT_MEMLOCK does not bind who has CAP_IPC_LOCK");
    }
    if (derived.least < LEAST_BYTES) {
      derived.text.append("; raised to ").append(megabytes(LEAST_BYTES));
    }
    return new PinnedLimit(
        Math.max(derived.least, LEAST_BYTES), derived.text.toString(), wanted, List.of());
  }

  private static OptionalLong leftByContainer(MachineMemory machine, SparkMemory spark) {
    if (machine.containerBytes().isEmpty()) {
      return OptionalLong.empty();
    }
    long taken = machine.heapBytes() + spark.offHeapBytes();
    return OptionalLong.of(Math.max(0, machine.containerBytes().getAsLong() - taken));
  }

  private static List<String> objections(long set, OptionalLong left, OptionalLong lockable) {
    List<String> objections = new ArrayList<>();
    String given = ShuffleSetting.PINNED_MAX.key() + "=" + set + " is more than ";
    if (left.isPresent() && set > left.getAsLong()) {
      objections.add(
          given
              + left.getAsLong()
              + " bytes, which is what the container's limit leaves beside heap and off-heap"
              + " memory: the executor may be killed");
    }
    if (lockable.isPresent() && set > lockable.getAsLong()) {
      objections.add(given + "RLIMIT_MEMLOCK=" + lockable.getAsLong() + " lets this process lock");
    }
    return List.copyOf(objections);
  }

  private static String megabytes(long bytes) {
    return (bytes >> 20) + " MiB";
  }

  /** The least of several, and how it came about. */
  private static final class Derivation {
    private final StringBuilder text = new StringBuilder("least of: ");
    private long least = Long.MAX_VALUE;

    void consider(String what, long bytes) {
      if (least != Long.MAX_VALUE) {
        text.append(", ");
      }
      text.append(what).append(' ').append(megabytes(bytes));
      least = Math.min(least, bytes);
    }
  }
}
