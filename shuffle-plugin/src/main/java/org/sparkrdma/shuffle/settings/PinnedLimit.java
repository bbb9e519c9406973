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
package org.sparkrdma.shuffle.settings;

import java.util.Optional;

/**
 * How much an executor may pin, and how that was found.
 *
 * @param bytes the limit
 * @param derivation one sentence for the log
 */
public record PinnedLimit(long bytes, String derivation) {
  private static final long LEAST_BYTES = 1L << 20;

  /** When the host does not even say how much memory it has. */
  private static final long UNKNOWN_HOST_BYTES = 1L << 30;

  /**
   * Takes what the user set, or the least of what the machine allows.
   *
   * @param set by the user; empty to derive it
   * @param hardware whether RLIMIT_MEMLOCK is charged, as it is for every real card
   */
  public static PinnedLimit of(Optional<Long> set, MachineMemory machine, boolean hardware) {
    if (set.isPresent()) {
      return new PinnedLimit(set.get(), "set by " + ShuffleSetting.PINNED_MAX.key());
    }
    long eighth = machine.physicalBytes().orElse(8 * UNKNOWN_HOST_BYTES) / 8;
    long least = eighth;
    StringBuilder derivation = new StringBuilder("least of: 1/8 of host memory ");
    derivation.append(megabytes(eighth));
    if (machine.containerBytes().isPresent()) {
      long left = Math.max(0, machine.containerBytes().getAsLong() - machine.heapBytes()) / 2;
      least = Math.min(least, left);
      derivation.append(", 1/2 of what the container leaves beside the heap ");
      derivation.append(megabytes(left));
    }
    if (hardware && machine.lockableBytes().isPresent()) {
      least = Math.min(least, machine.lockableBytes().getAsLong());
      derivation.append(", RLIMIT_MEMLOCK ");
      derivation.append(megabytes(machine.lockableBytes().getAsLong()));
    }
    if (least < LEAST_BYTES) {
      least = LEAST_BYTES;
      derivation.append("; raised to ").append(megabytes(least));
    }
    return new PinnedLimit(least, derivation.toString());
  }

  private static String megabytes(long bytes) {
    return (bytes >> 20) + " MiB";
  }
}
