// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Begins what a LOCATE lacks: loads of its blocks, each on the disk of its files, and windows. Up
 * to {@link BlockLoad#MAX_BLOCKS} blocks of a disk are one load. Confined to the agent.
 */
final class LoadPlanner {
  /** So long after a LOCATE lacked memory no window is registered beside the answers. */
  private static final long SHORTAGE_NS = Duration.ofSeconds(1).toNanos();

  /** And so long others may lack it still: they do not ask while they use TCP. */
  private static final long LACK_NS = Duration.ofSeconds(10).toNanos();

  private final IndexCache indexes;
  private final FileWindows windows;
  private final CopyMemory memory;
  private final DiskWork work;
  private final LoadContext context;
  private final Consumer<Runnable> agent;

  /** By their disks: the load to which blocks of the LOCATE are added; null without one. */
  private final BlockLoad[] building;

  private boolean isShort;
  private long shortNs;

  /** Gets a LOCATE that need not wait for the disk of a block any more. */
  private final Consumer<WaitingLocate> goOn;

  LoadPlanner(
      IndexCache indexes,
      FileWindows windows,
      LoadContext context,
      Consumer<Runnable> agent,
      Consumer<WaitingLocate> goOn) {
    this.indexes = indexes;
    this.windows = windows;
    this.memory = context.memory();
    this.work = context.work();
    this.context = context;
    this.agent = agent;
    this.building = new BlockLoad[context.source().disks()];
    this.goOn = goOn;
  }

  /**
   * Begins to load all that is missing of a LOCATE, which loads nothing now. Of the blocks of one
   * map output whose index is not known only the first begins: what it reads tells whether the
   * others are worth a window.
   */
  void loadAll(WaitingLocate locate, long nowNs) {
    Locate request = locate.request();
    locate.beginLoads();
    for (int block = 0; block < request.blockCount(); block++) {
      WaitingLocate.Block found = locate.block(block);
      found.waitsForIndex &= found.map == null && entry(request, block, nowNs) == null;
    }
    for (int block = 0; block < request.blockCount(); block++) {
      WaitingLocate.Block found = locate.block(block);
      if (locate.isMissing(block) && !found.waitsForIndex) {
        plan(locate, block, request.startOffset(block), nowNs);
      }
    }
    submit();
  }

  private IndexCache.Entry entry(Locate request, int block, long nowNs) {
    return indexes.get(request.owner(), request.shuffleId(block), request.mapId(block), nowNs);
  }

  /**
   * The index of a block's map output was read, or cannot be: adds others of the output, which
   * {@link #submit} begins.
   */
  void loadOthers(WaitingLocate locate, int block, long nowNs) {
    Locate request = locate.request();
    if (locate.blocksBeside(block) == 1) {
      return;
    }
    for (int other = 0; other < request.blockCount(); other++) {
      WaitingLocate.Block found = locate.block(other);
      if (found.waitsForIndex && locate.areOfOneMap(block, other)) {
        found.waitsForIndex = false;
        plan(locate, other, request.startOffset(other), nowNs);
      }
    }
  }

  /** Begins the loads that were added: blocks of several map outputs share them. */
  void submit() {
    for (int disk = 0; disk < building.length; disk++) {
      BlockLoad load = building[disk];
      building[disk] = null;
      if (load != null) {
        work.load(load);
      }
    }
  }

  /** Whether memory is used up, and not only the share of a reader. */
  boolean lacksMemory() {
    return context.waitsForWindows() || memory.isExhausted();
  }

  /** A LOCATE lacks memory: for a while windows take none. */
  void onShortage(long nowNs) {
    isShort = true;
    shortNs = nowNs;
    windows.offerNoneUntil(nowNs + SHORTAGE_NS);
  }

  /** Whether a LOCATE has lacked memory in the last seconds. */
  boolean isShort(long nowNs) {
    isShort &= nowNs - shortNs < LACK_NS;
    return isShort;
  }

  /** How many of so many LOCATEs that lack memory may find some now. */
  int mostToLoad(int count) {
    return context.waitsForWindows() ? count : (int) Math.min(count, memory.freeChunks());
  }

  /** Whether there may be memory now for a LOCATE that lacked some. */
  boolean couldLoad(WaitingLocate locate) {
    return context.waitsForWindows() || memory.couldTake(locate.share());
  }

  /**
   * Whether the answer of a LOCATE has something to say now. Not kept: a window that nothing holds
   * yet may end for another one.
   */
  boolean hasResults(WaitingLocate locate, long nowNs) {
    return locate.hasResults() || startsInWindow(locate, nowNs);
  }

  /** Whether a window may be READ that has the first byte which a LOCATE wants of a block. */
  private boolean startsInWindow(WaitingLocate locate, long nowNs) {
    Locate request = locate.request();
    for (int block = 0; block < request.blockCount(); block++) {
      IndexCache.Entry entry = entry(request, block, nowNs);
      int last = request.endReduceId(block);
      if (entry != null
          && last <= entry.map().partitions()
          && !context.computes(request.freshSums(block), entry.map())) {
        long start = entry.map().offset(request.startReduceId(block));
        long lengthBytes = entry.map().offset(last) - start;
        long at = request.startOffset(block);
        if (at < lengthBytes && entry.readyWindow(start + at) != null) {
          return true;
        }
      }
    }
    return false;
  }

  /** A block is copied whose map output was not known: its window may be worth it. */
  void offerWindow(WaitingLocate locate, int block, long nowNs) {
    Locate request = locate.request();
    IndexCache.Entry entry = entry(request, block, nowNs);
    if (context.registers()
        && entry != null
        && entry.map().lengthBytes() > 0
        && !context.computes(request.freshSums(block), entry.map())) {
      int first = request.startReduceId(block);
      int partitions = request.endReduceId(block) - first;
      long at = Math.min(entry.map().offset(first), entry.map().lengthBytes() - 1);
      windows.offer(entry, at, partitions, nowNs);
    }
  }

  /**
   * Adds what a block lacks, or what is left of it when a load has read its index or a part; {@link
   * #submit} begins it.
   *
   * @param from offset in the block
   */
  void plan(WaitingLocate locate, int block, long from, long nowNs) {
    Locate request = locate.request();
    WaitingLocate.Block found = locate.block(block);
    IndexCache.Entry entry = entry(request, block, nowNs);
    if (found.map == null && entry != null) {
      found.map = entry.map();
    }
    if (found.map == null) {
      planIndex(locate, block, from, nowNs);
    } else if (request.endReduceId(block) <= found.map.partitions()) {
      planRanges(locate, block, from, entry, nowNs);
    }
  }

  /** The index of a block is not known, nor perhaps its disk. */
  private void planIndex(WaitingLocate locate, int block, long from, long nowNs) {
    Locate request = locate.request();
    CompletableFuture<Integer> disk =
        context
            .source()
            .indexDiskOf(request.owner(), request.shuffleId(block), request.mapId(block));
    if (disk.isDone() && !disk.isCompletedExceptionally()) {
      addIndex(locate, block, disk.join(), from, nowNs);
      return;
    }
    locate.onBegun();
    var unused =
        disk.whenComplete(
            (index, failure) -> agent.accept(() -> onDisk(locate, block, index, from)));
  }

  /**
   * The disk of a block is known, or cannot be.
   *
   * @param disk null when it cannot
   */
  private void onDisk(WaitingLocate locate, int block, Integer disk, long from) {
    locate.onLoaded();
    if (!locate.is(WaitingLocate.State.LOADING)) {
      return;
    }
    if (disk == null) {
      locate.refuse(block, Located.Kind.UNKNOWN);
      loadOthers(locate, block, work.nowNs());
    } else {
      addIndex(locate, block, disk, from, work.nowNs());
    }
    submit();
    goOn.accept(locate);
  }

  private void addIndex(WaitingLocate locate, int block, int disk, long from, long nowNs) {
    BlockLoad.Part part = new BlockLoad.Part(locate.request(), block, null, from, Long.MAX_VALUE);
    add(locate, disk, part, nowNs);
  }

  private void planRanges(
      WaitingLocate locate, int block, long from, IndexCache.Entry entry, long nowNs) {
    Locate request = locate.request();
    MapOutput map = locate.block(block).map;
    int first = request.startReduceId(block);
    int partitions = request.endReduceId(block) - first;
    long start = map.offset(first);
    long end = map.offset(request.endReduceId(block));
    boolean mayUseWindows =
        context.registers() && entry != null && !context.computes(request.freshSums(block), map);
    int disk = context.source().dataDisk(map);
    long at = start + Math.min(from, end - start);
    while (at < end && locate.plannedBytes() < Located.MAX_LOCATED_BYTES) {
      long next = Math.min(end, mayUseWindows ? windows.endOf(at) : at + BlockLoad.MAX_BYTES);
      if (!mayUseWindows || entry.readyWindow(at) == null) {
        if (work.isSick(disk, nowNs)) {
          locate.refuse(block, Located.Kind.OVERLOADED);
          return;
        }
        boolean waits =
            mayUseWindows && context.waitsForWindows() && windows.mayRegister(entry, nowNs);
        if (mayUseWindows && !waits && !context.copies()) {
          locate.refuse(block, Located.Kind.BUSY);
          return;
        }
        FileWindow window = null;
        if (waits) {
          window = windows.require(entry, at);
          if (window == null) {
            locate.lackMemory();
            return;
          }
        } else if (mayUseWindows) {
          int blocks = locate.blocksBeside(block);
          window = windows.insteadOfCopy(entry, at, next - at, partitions, blocks, nowNs);
        }
        if (window == null) {
          next = Math.min(next, at + BlockLoad.MAX_BYTES);
          BlockLoad.Part part = new BlockLoad.Part(request, block, map, at - start, next - start);
          add(locate, disk, part, nowNs);
        } else {
          window.addWaiter(locate);
          locate.onBegun();
        }
      }
      locate.addPlanned(next - at);
      at = next;
    }
  }

  private void add(WaitingLocate locate, int disk, BlockLoad.Part part, long nowNs) {
    if (work.isSick(disk, nowNs)) {
      locate.refuse(part.block, Located.Kind.OVERLOADED);
      if (part.map == null) {
        loadOthers(locate, part.block, nowNs);
      }
      return;
    }
    BlockLoad load = building[disk];
    if (load != null && load.isFull()) {
      work.load(load);
      load = null;
    }
    if (load == null) {
      load = new BlockLoad(context, locate, disk, indexes.room(nowNs), indexes.generation());
      building[disk] = load;
      locate.add(load);
    }
    load.add(part);
  }
}
