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

import java.util.ArrayList;
import java.util.List;

/** The memory that READs may still write. Owned by the polling thread. */
final class Sinks {
  private final List<Place> taken = new ArrayList<>();

  /** A READ goes there; true when another one may still write there. */
  boolean take(Place sink) {
    boolean clashes = taken.stream().anyMatch(sink::overlaps);
    taken.add(sink);
    return clashes;
  }

  /** It has completed, or its queue pair is destroyed. */
  void giveBack(Place sink) {
    taken.remove(sink);
  }
}
