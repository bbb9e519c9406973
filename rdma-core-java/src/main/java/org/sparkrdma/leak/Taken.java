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
package org.sparkrdma.leak;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A note that something was taken which must be given back: what, by which thread, and where.
 *
 * <p>Notes are made where the system property {@code sparkrdma.leaks} is true, as in all tests, and
 * every test fails that leaves one. Elsewhere all notes are one and the same, and taking and giving
 * back costs nothing and allocates nothing. Safe for any thread.
 */
public final class Taken {
  private static final boolean ON = Boolean.getBoolean("sparkrdma.leaks");
  private static final Taken NOTHING = new Taken(null);
  private static final Set<Taken> OUT = ConcurrentHashMap.newKeySet();

  private final Throwable place;

  private Taken(Throwable place) {
    this.place = place;
  }

  /**
   * Notes that something is being taken here and now.
   *
   * @param what a word or two, such as "memory region"
   */
  public static Taken note(String what) {
    if (!ON) {
      return NOTHING;
    }
    Taken taken =
        new Taken(new Throwable(what + " taken by thread " + Thread.currentThread().getName()));
    OUT.add(taken);
    return taken;
  }

  /** Whether notes are made at all. */
  public static boolean isOn() {
    return ON;
  }

  /** All that is out now, of the whole process. */
  public static List<Taken> out() {
    return List.copyOf(OUT);
  }

  /** It has been given back. A second time does nothing. */
  public void giveBack() {
    if (ON) {
      OUT.remove(this);
    }
  }

  /** What, by which thread, and the stack of where; null where no notes are made. */
  public Throwable place() {
    return place;
  }
}
