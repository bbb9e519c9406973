// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Map-output files, registered in windows for remote reading only. Beside copies, a window is
 * registered into free memory only, where it pays, and no answer waits for it; memory in need ends
 * idle windows at once. Where nothing is copied, answers wait for windows.
 *
 * <p>Windows that page on demand are not pinned and not charged to the budget; their number and the
 * idle time-out bound them. They are read from the disk before their registration, so that a slow
 * disk delays the answer and not the READs. After a failure windows of a file are not registered
 * for a second, where the device has no room for 10 ms. Confined to the agent, but for the loads.
 */
final class FileWindows {
  private static final Logger LOG = LoggerFactory.getLogger(FileWindows.class);

  /** A quarter of vm.max_map_count, beyond which the JVM gets no stacks and no heap. */
  private static final int MAX_MAPPINGS = 16_384;

  private static final long REFUSED_NS = Duration.ofSeconds(1).toNanos();
  private static final long FULL_NS = Duration.ofMillis(10).toNanos();

  /** A window that was used since does not end for another one. */
  private static final long RECENT_NS = Duration.ofSeconds(5).toNanos();

  /** After so long, a price that could not be measured is tried again beside a copy. */
  private static final long REMEASURED_NS = Duration.ofSeconds(5).toNanos();

  /** While a registration takes longer, no window of its disk is waited for in place of a copy. */
  private static final long HANGING_NS = Duration.ofMillis(20).toNanos();

  private final int windowBytes;
  private final int maxWindows;
  private final Set<AccessFlag> access;
  private final boolean pinned;
  private final List<Path> excluded;
  private final MapOutputs outputs;
  private final OpenDevice device;
  private final CopyMemory copies;
  private final IdleWindows idle;
  private final DiskWork work;
  private final ShuffleCounters counters;

  /** By their disks; null until it is measured. */
  private final WindowPrice[] prices;

  /** Number of all windows, those that are loaded or closed now included; and their memory. */
  private int windows;

  private long pinnedBytes;

  /**
   * Directories whose price could not be measured, by their disks; and when that was last tried.
   */
  private final Path[] unmeasured;

  private final long[] measuredNs;

  /** Time from which windows are registered beside the answers. */
  private long offersFromNs;

  /**
   * @param excluded directories whose files are never registered
   * @param prices of each disk; null until it is known
   */
  FileWindows(
      ServerParameters server,
      List<Path> excluded,
      WindowPrice[] prices,
      LoadContext context,
      IdleWindows idle) {
    this.device = server.device();
    this.windowBytes = server.settings().windowBytes();
    DeviceFitness fitness = server.fitness();
    this.access = fitness.fileAccess(server.settings());
    this.pinned = !access.contains(AccessFlag.ON_DEMAND);
    this.maxWindows = Math.min(MAX_MAPPINGS, fitness.maxWindows());
    this.excluded = List.copyOf(excluded);
    this.outputs = server.outputs();
    this.copies = context.memory();
    this.idle = idle;
    this.work = context.work();
    this.counters = server.counters();
    this.prices = prices;
    this.unmeasured = new Path[prices.length];
    this.measuredNs = new long[prices.length];
    this.offersFromNs = nowNs();
  }

  /** Begins to measure what windows cost; until then blocks are copied. */
  void measurePrices() {
    List<Path> directories = outputs.directories();
    for (int disk = 0; disk < directories.size(); disk++) {
      if (!excluded.contains(directories.get(disk))) {
        measurePrice(disk, directories.get(disk));
      }
    }
  }

  private void measurePrice(int disk, Path directory) {
    unmeasured[disk] = null;
    WindowPrice[] measured = new WindowPrice[1];
    work.register(
        disk,
        () -> measured[0] = FileProbe.measure(device, directory, access),
        failure -> {
          if (failure != null) {
            LOG.debug("A measurement of a disk failed: disk={}", disk, failure);
          }
          onMeasured(disk, directory, measured[0]);
        });
  }

  private void onMeasured(int disk, Path directory, WindowPrice price) {
    if (price == null) {
      unmeasured[disk] = directory;
    } else {
      LOG.info("Windows of files in {}: {}", directory, price);
    }
    prices[disk] = price;
    measuredNs[disk] = nowNs();
  }

  long nowNs() {
    return device.nanoClock().getAsLong();
  }

  /** Offset of the end of the window with a byte of a file. */
  long endOf(long fileOffset) {
    return startOf(fileOffset) + windowBytes;
  }

  private long startOf(long fileOffset) {
    return fileOffset & -(long) windowBytes;
  }

  private long lengthOf(IndexCache.Entry entry, long start) {
    return Math.min(windowBytes, entry.map().lengthBytes() - start);
  }

  /** Whether files of a map output may be registered at all. */
  boolean mayRegister(IndexCache.Entry entry, long nowNs) {
    return entry.mayRegister(nowNs) && !entry.map().isIn(excluded);
  }

  /**
   * The window with a byte of a file, which must not be ready; begins to register it if there is
   * memory, perhaps that of idle ones when these are closed.
   *
   * @return null when there is none now
   */
  FileWindow require(IndexCache.Entry entry, long fileOffset) {
    FileWindow window = entry.window(fileOffset);
    if (window != null) {
      return window;
    }
    long lengthBytes = lengthOf(entry, startOf(fileOffset));
    boolean fits = windows < maxWindows && copies.fitsBeside(lengthBytes);
    window = !pinned || fits ? tryRegister(entry, fileOffset) : null;
    if (window == null && work.closingBytes() < lengthBytes) {
      idle.evict(lengthBytes);
    }
    return window;
  }

  /**
   * Registers the window with a byte of a file beside the answers, if that pays and its memory is
   * free.
   *
   * @param partitions of the block that is asked for: others are as long
   */
  private void offer(IndexCache.Entry entry, long fileOffset, int partitions, long nowNs) {
    WindowPrice price = prices[entry.disk()];
    if (price == null || entry.window(fileOffset) != null || !mayRegisterBeside(entry, nowNs)) {
      return;
    }
    long start = startOf(fileOffset);
    long lengthBytes = lengthOf(entry, start);
    long leftBytes = start + lengthBytes - fileOffset;
    if (FileWindow.isSpent(leftBytes, lengthBytes)) {
      return;
    }
    double blocks = (double) entry.blocks() / partitions * lengthBytes / entry.map().lengthBytes();
    if (!price.pays(blocks, lengthBytes) && !price.isTrial(lengthBytes)) {
      return;
    }
    tryRegisterBeside(entry, fileOffset, false, nowNs);
  }

  /** A window is spent: the next one of the file is registered before its first block is wanted. */
  void offerNext(FileWindow window, int partitions, long nowNs) {
    IndexCache.Entry entry = window.entry();
    if (window.end() < entry.map().lengthBytes()) {
      offer(entry, window.end(), partitions, nowNs);
    }
  }

  /** Memory is short: for a while none is registered beside the answers. */
  void offerNoneUntil(long timeNs) {
    offersFromNs = timeNs;
  }

  private boolean mayRegisterBeside(IndexCache.Entry entry, long nowNs) {
    // Behind one that hangs, more than the next one would only keep memory.
    boolean next = work.registrations(entry.disk()) < 2 || !hangs(entry, nowNs);
    return nowNs - offersFromNs >= 0 && mayRegister(entry, nowNs) && next;
  }

  private boolean hangs(IndexCache.Entry entry, long nowNs) {
    return work.registersSinceBefore(entry.disk(), nowNs - HANGING_NS);
  }

  /**
   * Registers a window if its memory is free; the memory of another one that may end for it is free
   * for a later one when that is closed.
   *
   * @param forAny whether any idle window may end for it
   */
  private FileWindow tryRegisterBeside(
      IndexCache.Entry entry, long fileOffset, boolean forAny, long nowNs) {
    long lengthBytes = lengthOf(entry, startOf(fileOffset));
    FileWindow window = hasRoom(lengthBytes) ? tryRegister(entry, fileOffset) : null;
    FileWindow first = idle.first();
    if (!hasRoom(lengthBytes) && first != null) {
      boolean ends = forAny || nowNs - first.idleSinceNs() >= RECENT_NS;
      if (first.isSpent() || (ends && work.closingBytes() < lengthBytes)) {
        idle.evict(1);
      }
    }
    return window;
  }

  private boolean hasRoom(long lengthBytes) {
    return windows < maxWindows && (!pinned || copies.leavesRoomFor(lengthBytes));
  }

  /**
   * The window with a byte of a file, to be waited for in place of a copy: it loads, and the blocks
   * of one LOCATE alone are worth its price, as a long block or many are where a registration costs
   * less than a copy. Otherwise offers the window.
   *
   * @param blockBytes that the block has in the window
   * @param partitions of the block
   * @param blocks of the file that the LOCATE names, taken to be as long
   * @return null to copy them
   */
  FileWindow insteadOfCopy(
      IndexCache.Entry entry,
      long fileOffset,
      long blockBytes,
      int partitions,
      int blocks,
      long nowNs) {
    long start = startOf(fileOffset);
    long lengthBytes = lengthOf(entry, start);
    long leftBytes = start + lengthBytes - fileOffset;
    WindowPrice price = prices[entry.disk()];
    if (price == null
        || hangs(entry, nowNs)
        || !price.paysFor(blocks, Math.min(blocks * blockBytes, leftBytes), lengthBytes)) {
      offer(entry, fileOffset, partitions, nowNs);
      return null;
    }
    FileWindow window = entry.window(fileOffset);
    if (window == null && mayRegisterBeside(entry, nowNs)) {
      boolean forAny = price.paysFor(1, blockBytes, lengthBytes);
      window = tryRegisterBeside(entry, fileOffset, forAny, nowNs);
    }
    return window != null && window.isLoading() ? window : null;
  }

  private FileWindow tryRegister(IndexCache.Entry entry, long fileOffset) {
    long start = startOf(fileOffset);
    int lengthBytes = (int) lengthOf(entry, start);
    if (windows >= maxWindows) {
      return null;
    }
    PinnedBudget.Grant grant = pinned ? device.budget().tryGrant(lengthBytes).orElse(null) : null;
    if (pinned && grant == null) {
      return null;
    }
    long leftBytes = start + lengthBytes - fileOffset;
    FileWindow window = new FileWindow(this, idle, entry, start, lengthBytes, grant, leftBytes);
    entry.setWindow(start, window);
    entry.addBusyWindows(1);
    addWindow(1, window.pinnedBytes());
    work.register(entry.disk(), window::load, failure -> onRegistered(window, failure));
    return window;
  }

  private void addWindow(int count, long lengthBytes) {
    windows += count;
    pinnedBytes += count * lengthBytes;
    copies.setWindowBytes(pinnedBytes);
  }

  /** Registers a window; on a thread of its disk. */
  MemoryRegion register(FileWindow window) throws IOException, VerbsException {
    var map = window.entry().map();
    if (!pinned) {
      outputs.loadPages(map, window.offset(), window.lengthBytes());
    }
    return device
        .domain()
        .registerFile(map.dataFile(), window.offset(), window.lengthBytes(), access);
  }

  private void onRegistered(FileWindow window, Exception failure) {
    long nowNs = nowNs();
    IndexCache.Entry entry = window.entry();
    entry.addBusyWindows(-1);
    if (failure == null) {
      counters.increment(Counter.WINDOWS_REGISTERED);
      counters.add(Counter.SERVE_BYTES_REGISTERED, window.lengthBytes());
      WindowPrice price = prices[entry.disk()];
      if (price != null) {
        price.onRegistered(window.lengthBytes(), window.loadNs());
      }
      window.onLoaded(nowNs);
    } else {
      LOG.debug("File could not be registered", failure);
      window.onFailed();
      entry.setWindow(window.offset(), null);
      addWindow(-1, window.pinnedBytes());
      refuse(window, failure, nowNs);
    }
    window.runWaiters();
  }

  /** Not to be tried again at once, so that a failure does not cost a call for each block. */
  private void refuse(FileWindow window, Exception failure, long nowNs) {
    boolean full = failure instanceof VerbsException refused && refused.isNoRoom();
    window.entry().registersFrom(nowNs + (full ? FULL_NS : REFUSED_NS));
    if (full) {
      // Idle windows and copies hold what the device lacks.
      device.budget().reportRefusal(window.lengthBytes());
    }
  }

  /** Deregisters a window that was idle. */
  void close(FileWindow window) {
    window.entry().setWindow(window.offset(), null);
    work.close(window.pinnedBytes(), window::close, () -> onClosed(window));
  }

  private void onClosed(FileWindow window) {
    addWindow(-1, window.pinnedBytes());
    WindowPrice price = prices[window.entry().disk()];
    if (price != null) {
      price.onDeregistered(window.lengthBytes(), window.closeNs());
    }
  }

  /** A disk thread has copied bytes. */
  void onCopied(BlockLoad load) {
    int disk = load.disk();
    WindowPrice price = prices[disk];
    if (price != null && load.reads() > 0) {
      price.onCopied(load.reads(), load.copiedBytes(), load.readNs());
    } else if (unmeasured[disk] != null && nowNs() - measuredNs[disk] >= REMEASURED_NS) {
      measurePrice(disk, unmeasured[disk]);
    }
  }
}
