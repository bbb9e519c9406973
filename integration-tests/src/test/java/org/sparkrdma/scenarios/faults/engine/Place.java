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
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.WorkRequest;

/** Part of a region. */
record Place(MemoryRegion region, long offset, int lengthBytes) {
  /** The local memory of a request, which is of one element. */
  static Place of(WorkRequest request) {
    return new Place(request.region(0), request.offset(0), request.length(0));
  }

  boolean overlaps(Place other) {
    return region.equals(other.region)
        && offset < other.offset + other.lengthBytes
        && other.offset < offset + lengthBytes;
  }
}
