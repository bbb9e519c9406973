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
package org.sparkrdma.verbs.soft;

import java.util.SplittableRandom;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Gives regions their places in the shared table, and keys.
 *
 * <p>A key is the place and a number that grows each time the place is used again; places are used
 * in turn, so that a stale key stays wrong for a very long time. Safe for any thread.
 */
final class RegionRegistry {
  private static final int OUT_OF_MEMORY = 12;
  private static final int INDEX_MASK = SharedTable.REGIONS - 1;
  private static final int GENERATION_STEP = SharedTable.REGIONS;

  private final SharedTable table;
  private final int[] nextKey = new int[SharedTable.REGIONS];
  private final FreeIndexes free = new FreeIndexes(SharedTable.REGIONS);

  RegionRegistry(SharedTable table, long seed) {
    this.table = table;
    var random = new SplittableRandom(seed);
    for (int i = 0; i < nextKey.length; i++) {
      nextKey[i] = (random.nextInt() & ~INDEX_MASK) | i;
    }
  }

  /** The place in the table that a key names. */
  static int indexOf(int key) {
    return key & INDEX_MASK;
  }

  void publish(SoftRegion region) throws VerbsException {
    int index = free.take();
    if (index < 0) {
      throw new VerbsException(
          "ibv_reg_mr",
          OUT_OF_MEMORY,
          "ibv_reg_mr failed: too many regions: limit=" + SharedTable.REGIONS,
          null);
    }
    int key = nextKey[index];
    nextKey[index] = key + GENERATION_STEP;
    region.onPublished(index, key);
    table.publishRegion(index, key, region.entry());
  }

  /** Returns when no peer uses the region any more. */
  void retire(SoftRegion region) {
    table.retireRegion(region.index());
    free.giveBack(region.index());
  }
}
