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
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.verbs.device.Transport;

/**
 * When to register a window that is not registered: as soon as copying out of it would have cost
 * more than that.
 *
 * <p>Nobody knows how often a window will be asked for. Who copies until he has spent the price of
 * registering and registers then, spends at most twice what would have been best, whatever comes.
 * The prices are those that {@code ./bench serve} measures, see docs/benchmarks.md; registering for
 * a card pins page by page, on the loopback engine it does not. On the server's thread.
 */
final class CopyFirst {
  private static final long REGISTER_NS = 45_000;
  private static final long REGISTER_NS_PER_MIB = 40_000;
  private static final long COPY_NS = 12_000;
  private static final long COPY_NS_PER_MIB = 52_000;
  private static final int MIB_SHIFT = 20;

  private final long registerNsPerMib;

  CopyFirst(Transport transport) {
    this.registerNsPerMib = transport == Transport.LOOPBACK ? 0 : REGISTER_NS_PER_MIB;
  }

  /** Whether so much of a window is to be copied, rather than the window registered. */
  boolean prefersCopy(ServedOutput output, int window, long windowBytes, long askedBytes) {
    long price = REGISTER_NS + ((windowBytes * registerNsPerMib) >> MIB_SHIFT);
    return output.spentNs(window) + price(askedBytes) <= price;
  }

  /** So much of a window was copied. */
  void copied(ServedOutput output, int window, long bytes) {
    output.spend(window, price(bytes));
  }

  private static long price(long bytes) {
    return COPY_NS + ((bytes * COPY_NS_PER_MIB) >> MIB_SHIFT);
  }
}
