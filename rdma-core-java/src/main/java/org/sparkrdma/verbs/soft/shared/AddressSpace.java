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
package org.sparkrdma.verbs.soft.shared;

import java.util.concurrent.atomic.AtomicLong;

/** Gives out ranges of addresses that were never used before. Safe for any thread. */
public final class AddressSpace {
  private static final long FIRST = 0x1000_0000_0000L;
  private static final long PAGE_BYTES = 4_096;

  private final AtomicLong next = new AtomicLong(FIRST);

  /** Takes a page-aligned range and returns its first address; an unused page follows it. */
  public long take(long lengthBytes) {
    long pages = (lengthBytes + PAGE_BYTES - 1) / PAGE_BYTES + 1;
    return next.getAndAdd(pages * PAGE_BYTES);
  }
}
