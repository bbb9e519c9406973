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

import org.sparkrdma.shuffle.output.MapOutput;

/**
 * A map output that the server knows, and the windows registered on its file. On the server's
 * thread.
 */
final class ServedOutput {
  private final MapOutput mapOutput;
  private final FileWindow[] windows;
  private final long[] spentNs;
  private int registered;
  private int leased;
  private long refusedUntilNs;
  private boolean refused;
  private Forgetting forgetting;

  ServedOutput(MapOutput mapOutput, int windowBytes) {
    this.mapOutput = mapOutput;
    this.windows =
        new FileWindow[Math.toIntExact((mapOutput.lengthBytes() + windowBytes - 1) / windowBytes)];
    this.spentNs = new long[windows.length];
  }

  /** What copying out of a window has cost so far, while it was not registered. */
  long spentNs(int window) {
    return spentNs[window];
  }

  void spend(int window, long ns) {
    spentNs[window] += ns;
  }

  MapOutput mapOutput() {
    return mapOutput;
  }

  int windowCount() {
    return windows.length;
  }

  /** The window at this place; null when it is not registered. */
  FileWindow window(int index) {
    return windows[index];
  }

  void onRegistered(FileWindow window) {
    windows[window.index()] = window;
    registered++;
  }

  /** A window is no more; the last one of a forgotten map output ends the forgetting. */
  void onDeregistered(FileWindow window) {
    windows[window.index()] = null;
    registered--;
    if (registered == 0 && forgetting != null) {
      forgetting.onOutputGone();
    }
  }

  void onLeased() {
    leased++;
  }

  void onIdle() {
    leased--;
  }

  /** Whether a window of it is leased. */
  boolean isLeased() {
    return leased > 0;
  }

  /** Whether a window of it is registered. */
  boolean isRegistered() {
    return registered > 0;
  }

  /** The device refused a window: it is not asked again before the time given. */
  void onRefused(long untilNs) {
    refused = true;
    refusedUntilNs = untilNs;
  }

  boolean isRefused(long nowNs) {
    refused = refused && nowNs - refusedUntilNs < 0;
    return refused;
  }

  /** Its shuffle is gone: windows go as soon as their leases have ended. */
  void forget(Forgetting why) {
    forgetting = why;
  }

  boolean isForgotten() {
    return forgetting != null;
  }
}
