// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Decides whether a block comes out of a window, which is a registered part of its file, or a copy
 * ({@link FileWindows#insteadOfCopy} says whether a window pays); begins what a LOCATE lacks, loads
 * of its blocks, each on the disk of its files, and windows; and takes what they have found: keeps
 * the indexes that were read, and begins what is still missing. Up to {@link BlockLoad#MAX_BLOCKS}
 * blocks of a disk are one load. Confined to the agent.
 */
final class LocatePlanner {
  private final IndexCache indexes;
  private final FileWindows windows;
  private final LoadContext context;
  private final DiskWork work;
  private final PinnedBudget budget;
  private final Consumer<Runnable> agent;

  /** By their disks: the load to which blocks of the LOCATE are added; null without one. */
  private final BlockLoad[] building;

  /** Gets a LOCATE for which something has ended. */
  private final Consumer<WaitingLocate> goOn;

  private boolean stopped;

  LocatePlanner(
      ServerParameters server,
      IndexCache indexes,
      FileWindows windows,
      LoadContext context,
      Consumer<WaitingLocate> goOn) {
    this.indexes = indexes;
    this.windows = windows;
    this.context = context;
    this.work = context.work();
    this.budget = server.device().budget();
    this.agent = server.agent();
    this.building = new BlockLoad[context.source().disks()];
    this.goOn = goOn;
  }

  /** Nothing begins any more: all LOCATEs are dropped soon. */
  void stop() {
    stopped = true;
  }

  // What is missing.

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

  /** The index of a block's map output was read, or cannot be: adds others of the output. */
  private void loadOthers(WaitingLocate locate, int block, long nowNs) {
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
  private void submit() {
    for (int disk = 0; disk < building.length; disk++) {
      if (building[disk] != null) {
        submit(disk);
      }
    }
  }

  private void submit(int disk) {
    BlockLoad load = building[disk];
    building[disk] = null;
    work.load(load, () -> onLoaded(load));
  }

  /**
   * Adds what a block lacks, or what is left of it when a load has read its index or a part.
   *
   * @param from offset in the block
   */
  private void plan(WaitingLocate locate, int block, long from, long nowNs) {
    if (!locate.hasRoom()) {
      return;
    }
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
        if (window == null && request.noCopy(block)) {
          locate.setHasResults();
          return;
        }
        if (window == null) {
          next = Math.min(next, at + BlockLoad.MAX_BYTES);
          BlockLoad.Part part = new BlockLoad.Part(request, block, map, at - start, next - start);
          // Its end would take the room in the answer that its beginning needs for checksums.
          part.goesOn = next < end && partitions > 1 && map.hasSums();
          add(locate, disk, part, nowNs);
          end = part.goesOn ? next : end;
        } else {
          waitFor(locate, window);
        }
      }
      locate.addPlanned(next - at);
      at = next;
    }
  }

  private void waitFor(WaitingLocate locate, FileWindow window) {
    locate.onBegun();
    window.whenRegistered(() -> onRegistered(locate, window));
  }

  private void add(WaitingLocate locate, int disk, BlockLoad.Part part, long nowNs) {
    if (work.isSick(disk, nowNs)) {
      locate.refuse(part.block, Located.Kind.OVERLOADED);
      if (part.map == null) {
        loadOthers(locate, part.block, nowNs);
      }
      return;
    }
    if (building[disk] != null && building[disk].isFull()) {
      submit(disk);
    }
    if (building[disk] == null) {
      building[disk] = new BlockLoad(context, locate, disk, indexes, nowNs);
      locate.add(building[disk]);
    }
    building[disk].add(part);
  }

  // What was found.

  private void onLoaded(BlockLoad load) {
    long nowNs = work.nowNs();
    load.onEnded();
    if (stopped) {
      load.releaseUnheld();
      return;
    }
    windows.onCopied(load);
    WaitingLocate locate = load.locate();
    locate.onLoaded();
    boolean open = locate.is(WaitingLocate.State.LOADING);
    for (BlockLoad.Part part : load.takeParts()) {
      keep(load, part, nowNs);
      if (open) {
        take(locate, part, nowNs);
      }
    }
    submit();
    if (locate.is(WaitingLocate.State.ENDED)) {
      load.releaseUnheld();
    }
    goOn.accept(locate);
  }

  /** Keeps the index that a load has read, or forgets one whose file cannot be read. */
  private void keep(BlockLoad load, BlockLoad.Part part, long nowNs) {
    if (part.isUnreadable) {
      indexes.drop(part.owner, part.shuffleId, part.mapId);
    } else if (part.map != null && part.wasRead) {
      indexes.offer(part, load.generation(), nowNs);
    }
    indexes.endClaim(part);
  }

  /** Gives a LOCATE what a load has found of a block, and begins to load the rest. */
  private void take(WaitingLocate locate, BlockLoad.Part part, long nowNs) {
    WaitingLocate.Block block = locate.block(part.block);
    block.map = part.map;
    for (BlockLoad.Copy copy : part.copies) {
      block.copies.put(copy.at(), copy);
      // The length of a block whose index was not known was not planned.
      locate.addPlanned(part.isNew ? copy.lengthBytes() : 0);
    }
    boolean isEmpty = part.outcome == BlockLoad.Outcome.COPIED && part.copies.isEmpty();
    if (isEmpty || locate.hasStart(part.block)) {
      locate.setHasResults();
    }
    switch (part.outcome) {
      case COPIED, NO_ROOM -> {}
      case NO_MEMORY -> {
        locate.lackMemory();
        if (context.memory().isExhausted()) {
          budget.reportShortage(BlockLoad.MAX_BYTES);
        }
      }
      case UNKNOWN -> locate.refuse(part.block, Located.Kind.UNKNOWN);
      case OPEN -> plan(locate, part.block, part.from, nowNs);
    }
    if (part.isNew || part.map == null) {
      loadOthers(locate, part.block, nowNs);
    }
  }

  /** A LOCATE that waits for a window may go on, also when it could not be registered. */
  private void onRegistered(WaitingLocate locate, FileWindow window) {
    locate.onLoaded();
    if (stopped || !locate.is(WaitingLocate.State.LOADING)) {
      return;
    }
    long nowNs = work.nowNs();
    boolean nothing = !locate.lacksMemory() && !hasResults(locate, nowNs);
    if (locate.loading() == 0 && (!window.isReady() || nothing)) {
      loadAll(locate, nowNs);
    }
    goOn.accept(locate);
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
}
