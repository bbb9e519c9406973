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

/** A cached map output and the registered windows of its file. On the server's thread. */
final class ServedOutput {
  private final MapOutput mapOutput;
  private final FileWindow[] windows;
  private final long[] copyCostNs;
  private int registered;
  private int leased;
  private long refusedUntilNs;
  private boolean refused;
  private PendingUnregistration pending;

  ServedOutput(MapOutput mapOutput, int windowBytes) {
    this.mapOutput = mapOutput;
    this.windows =
        new FileWindow[Math.toIntExact((mapOutput.lengthBytes() + windowBytes - 1) / windowBytes)];
    this.copyCostNs = new long[windows.length];
  }

  /** Cost so far of copies out of an unregistered window. */
  long copyCostNs(int window) {
    return copyCostNs[window];
  }

  void addCopyCost(int window, long ns) {
    copyCostNs[window] += ns;
  }

  MapOutput mapOutput() {
    return mapOutput;
  }

  int windowCount() {
    return windows.length;
  }

  /** The window at an index; null when it is not registered. */
  FileWindow window(int index) {
    return windows[index];
  }

  void onRegistered(FileWindow window) {
    windows[window.index()] = window;
    registered++;
  }

  /** A window was deregistered; the last one completes a pending unregistration. */
  void onDeregistered(FileWindow window) {
    windows[window.index()] = null;
    registered--;
    if (registered == 0 && pending != null) {
      pending.onOutputGone();
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

  /** Registration failed: not to be tried again before this time. */
  void onRefused(long untilNs) {
    refused = true;
    refusedUntilNs = untilNs;
  }

  boolean isRefused(long nowNs) {
    refused = refused && nowNs - refusedUntilNs < 0;
    return refused;
  }

  /** Its shuffle is unregistered: windows are deregistered when their leases end. */
  void unregister(PendingUnregistration why) {
    pending = why;
  }

  boolean isUnregistered() {
    return pending != null;
  }
}
