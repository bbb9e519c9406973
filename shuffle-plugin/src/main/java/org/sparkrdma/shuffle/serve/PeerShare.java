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

import java.util.HashMap;
import java.util.Map;

/**
 * What the leases of one peer hold, and how much that may be, so that a peer that gives nothing
 * back leaves room for the others. A peer that has its share is told that there is no room, as when
 * the budget is full. On the server's thread.
 */
final class PeerShare {
  private static final int WHOLE = 100;

  private final int mostLeases;
  private final long mostWindowBytes;
  private final int mostSlots;
  private final Map<FileWindow, Integer> windows = new HashMap<>();
  private long windowBytes;
  private int leases;
  private int slots;
  private boolean refused;

  /**
   * @param budgetBytes of which {@link ServeSettings#peerPercent} may be in windows of this peer
   */
  PeerShare(ServeSettings settings, long budgetBytes) {
    mostLeases = settings.peerLeases();
    mostWindowBytes = budgetBytes / WHOLE * settings.peerPercent();
    mostSlots = Math.max(1, settings.slots() * settings.peerPercent() / WHOLE);
  }

  /** Returns whether it may have another lease; remembers a refusal. */
  boolean admitLease() {
    return !refuse(leases >= mostLeases);
  }

  /**
   * Returns whether another lease may be on a window; remembers a refusal. Always on one that it
   * holds already.
   *
   * @param window null for one that is not registered yet
   */
  boolean admitWindow(FileWindow window) {
    return !refuse(!hasRoomForWindows() && !windows.containsKey(window));
  }

  boolean hasRoomForWindows() {
    return windowBytes < mostWindowBytes;
  }

  /** Returns whether it may hold another slot; remembers a refusal. */
  boolean admitSlot() {
    return !refuse(slots >= mostSlots);
  }

  private boolean refuse(boolean now) {
    refused |= now;
    return now;
  }

  /** Whether something was refused since this was asked last. */
  boolean takeRefused() {
    boolean was = refused;
    refused = false;
    return was;
  }

  void beginLease() {
    leases++;
  }

  void endLease() {
    leases--;
  }

  void add(FileWindow window) {
    if (windows.merge(window, 1, Integer::sum) == 1) {
      windowBytes += window.pinnedBytes();
    }
  }

  void remove(FileWindow window) {
    if (windows.merge(window, -1, PeerShare::sumOrGone) == null) {
      windowBytes -= window.pinnedBytes();
    }
  }

  private static Integer sumOrGone(int before, int change) {
    return before + change == 0 ? null : Integer.valueOf(before + change);
  }

  void addSlot() {
    slots++;
  }

  void removeSlots(int count) {
    slots -= count;
  }
}
