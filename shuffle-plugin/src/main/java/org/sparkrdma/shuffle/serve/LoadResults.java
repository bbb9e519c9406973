// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.function.Consumer;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Takes what loads and registrations have found: keeps the indexes that were read, gives the
 * LOCATEs that wait what was found of their blocks, and begins what is still missing. Confined to
 * the agent.
 */
final class LoadResults implements DiskWork.Listener {
  private final IndexCache indexes;
  private final FileWindows windows;
  private final LoadContext context;
  private final LoadPlanner planner;
  private final WaitingLocates waiting;

  /** Gets a LOCATE for which something has ended. */
  private final Consumer<WaitingLocate> goOn;

  private boolean stopped;

  LoadResults(
      IndexCache indexes,
      FileWindows windows,
      LoadContext context,
      LoadPlanner planner,
      WaitingLocates waiting,
      Consumer<WaitingLocate> goOn) {
    this.indexes = indexes;
    this.windows = windows;
    this.context = context;
    this.planner = planner;
    this.waiting = waiting;
    this.goOn = goOn;
  }

  /** Nothing begins any more: all LOCATEs are dropped soon. */
  void stop() {
    stopped = true;
  }

  @Override
  public void onLoaded(BlockLoad load) {
    long nowNs = context.work().nowNs();
    load.onEnded();
    if (stopped) {
      load.releaseUnheld();
      return;
    }
    windows.onCopied(load);
    WaitingLocate locate = load.locate();
    locate.onLoaded();
    boolean open = locate.is(WaitingLocate.State.LOADING);
    for (BlockLoad.Part part : load.parts()) {
      keep(load, part, nowNs);
      if (open) {
        take(locate, part, nowNs);
      }
    }
    planner.submit();
    if (locate.is(WaitingLocate.State.ENDED)) {
      load.releaseUnheld();
      waiting.serveMemory(nowNs);
    }
    goOn.accept(locate);
  }

  /** Keeps the index that a load has read, or forgets one whose file cannot be read. */
  private void keep(BlockLoad load, BlockLoad.Part part, long nowNs) {
    if (part.isUnreadable) {
      indexes.drop(part.owner, part.shuffleId, part.mapId);
    } else if (part.map != null && part.isNew) {
      indexes.offer(part.owner, part.shuffleId, part.mapId, part.map, load.generation(), nowNs);
    }
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
      case COPIED -> {}
      case NO_MEMORY -> {
        locate.lackMemory();
        if (context.memory().isExhausted()) {
          waiting.onShortage(BlockLoad.MAX_BYTES);
        }
      }
      case UNKNOWN -> locate.refuse(part.block, Located.Kind.UNKNOWN);
      case OPEN -> planner.plan(locate, part.block, part.from, nowNs);
    }
    if (part.isNew && part.outcome != BlockLoad.Outcome.UNKNOWN) {
      planner.offerWindow(locate, part.block, nowNs);
    }
    if (part.isNew || part.map == null) {
      planner.loadOthers(locate, part.block, nowNs);
    }
  }

  /** The LOCATEs that wait for a window may go on, also when it could not be registered. */
  @Override
  public void onRegistered(FileWindow window, Exception failure) {
    long nowNs = context.work().nowNs();
    windows.onRegistered(window, failure, nowNs);
    if (stopped) {
      return;
    }
    for (WaitingLocate locate : window.takeWaiters()) {
      locate.onLoaded();
      if (locate.is(WaitingLocate.State.LOADING)) {
        boolean nothing = !locate.lacksMemory() && !planner.hasResults(locate, nowNs);
        if (locate.loading() == 0 && (!window.isReady() || nothing)) {
          planner.loadAll(locate, nowNs);
        }
        goOn.accept(locate);
      }
    }
  }

  @Override
  public void onClosed() {
    waiting.serveMemory(context.work().nowNs());
  }
}
