// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Checksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.PartitionRange;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.RemoteRegion;

/**
 * One job of a disk for a LOCATE: reads the indexes that it lacks, and copies its blocks, up to
 * {@link #MAX_BYTES}, into chunks that it takes when it begins. So a job that waits holds nothing,
 * and a disk that hangs holds no more than its threads have begun.
 *
 * <p>{@link #run} on a thread of the disk, then all else on the agent. The lease of the answer
 * holds the chunks; without one they are released at once.
 */
final class BlockLoad implements Leased {
  /** The most blocks of a job. */
  static final int MAX_BLOCKS = 16;

  /** A load that has copied so many bytes begins no more of them, unless it knew them before. */
  static final int MAX_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(BlockLoad.class);

  /** How the load of a block has ended. */
  enum Outcome {
    /** Nothing of it has loaded yet, or more must. */
    OPEN,
    /** Its bytes are copied, as far as it had to. */
    COPIED,
    /** There was no memory for it, or its reader holds its share. */
    NO_MEMORY,
    /** Its answer has no room for more of it: the reader asks for it again. */
    NO_ROOM,
    /** It cannot be found or read. */
    UNKNOWN
  }

  /**
   * A block, or a part of one. It has all that it needs of the LOCATE, whose message may be
   * overwritten when it is answered before a disk is.
   */
  static final class Part {
    final int block;
    final int owner;
    final int shuffleId;
    final long mapId;
    private final int first;
    private final int end;
    private final boolean freshSums;
    private final boolean noCopy;

    /** Null until it is known. */
    MapOutput map;

    /** Whether {@link #map} was found by this load. */
    boolean isNew;

    /** Whether the block goes on behind it: the rest is loaded when this part is. */
    boolean goesOn;

    /** Whether its files are gone or cannot be read. */
    boolean isUnreadable;

    /** Whether {@link #map} was read from files, or was looked for there. */
    boolean wasRead;

    /** What its index costs in the {@link IndexCache} that was read as a whole; 0 without one. */
    long claimed;

    /** Where it begins, and its maximum end, from the beginning of the block. */
    long from;

    final long to;
    Outcome outcome = Outcome.OPEN;
    final List<Copy> copies = new ArrayList<>(1);

    Part(Locate request, int block, MapOutput map, long from, long to) {
      this.block = block;
      this.owner = request.owner();
      this.shuffleId = request.shuffleId(block);
      this.mapId = request.mapId(block);
      this.first = request.startReduceId(block);
      this.end = request.endReduceId(block);
      this.freshSums = request.freshSums(block);
      this.noCopy = request.noCopy(block);
      this.map = map;
      this.from = from;
      this.to = to;
    }
  }

  /**
   * A range of a data file in a chunk.
   *
   * @param at offset in the file
   * @param sum computed checksum; 0 where those of the map output are used
   */
  record Copy(BlockLoad load, long address, long remoteKey, long at, int lengthBytes, long sum) {
    /** Text without the key and the address, which are secrets. */
    @Override
    public String toString() {
      return "Copy[at=" + at + " lengthBytes=" + lengthBytes + "]";
    }
  }

  private final LoadContext context;
  private final WaitingLocate locate;
  private final CopyMemory.Share share;
  private final int disk;
  private final IndexCache indexes;

  /** Of the index cache when it began. */
  private final long generation;

  /** What it could evict then. */
  private final long evictable;

  private final List<Part> parts = new ArrayList<>(MAX_BLOCKS);
  private final List<RegisteredChunk> chunks = new ArrayList<>();

  /** Known bytes of its parts. */
  private long knownBytes;

  private RemoteRegion remote;
  private int used;
  private long copiedBytes;
  private int reads;
  private long readNs;
  private Object holder;
  private int holds;
  private boolean ended;
  private volatile boolean cancelled;

  /**
   * @param disk on whose thread it runs
   */
  BlockLoad(LoadContext context, WaitingLocate locate, int disk, IndexCache indexes, long nowNs) {
    this.context = context;
    this.locate = locate;
    this.share = locate.share();
    this.disk = disk;
    this.indexes = indexes;
    this.generation = indexes.generation();
    this.evictable = indexes.evictable(nowNs);
  }

  WaitingLocate locate() {
    return locate;
  }

  int disk() {
    return disk;
  }

  long generation() {
    return generation;
  }

  /** Its parts, once: a lease that holds its chunks needs no indexes, which take heap. */
  List<Part> takeParts() {
    List<Part> taken = List.copyOf(parts);
    parts.clear();
    return taken;
  }

  /** Number of reads that have copied bytes. */
  int reads() {
    return reads;
  }

  /** How long these took. */
  long readNs() {
    return readNs;
  }

  long copiedBytes() {
    return copiedBytes;
  }

  boolean isFull() {
    return parts.size() == MAX_BLOCKS || knownBytes >= MAX_BYTES;
  }

  /** Adds a block, or a part of one whose map output is known. */
  void add(Part part) {
    parts.add(part);
    knownBytes += part.map == null ? 0 : part.to - part.from;
  }

  /** Nobody needs it any more: it need not run. */
  void cancel() {
    cancelled = true;
  }

  /** The agent has its result. */
  void onEnded() {
    ended = true;
  }

  boolean hasEnded() {
    return ended;
  }

  /** On a thread of the disk. */
  void run() {
    for (Part part : parts) {
      if (cancelled) {
        return;
      }
      Exception failure = DiskWork.failureOf(() -> load(part));
      if (failure != null) {
        LOG.debug("Block cannot be read; the reader uses TCP", failure);
        part.outcome = Outcome.UNKNOWN;
        part.isUnreadable = true;
      }
      context.work().onProgress(disk);
    }
  }

  private void load(Part part) throws IOException {
    if (!locate.hasRoom()) {
      part.outcome = Outcome.NO_ROOM;
      return;
    }
    if (part.map == null) {
      part.isNew = true;
      // Another load may have read it since.
      part.map = indexes.known(part.owner, part.shuffleId, part.mapId);
    }
    if (part.map == null) {
      part.wasRead = true;
      part.map =
          context
              .source()
              .openRange(
                  part.owner,
                  part.shuffleId,
                  part.mapId,
                  new PartitionRange(
                      part.first, part.end, count -> indexes.tryClaim(part, count, evictable)));
    }
    if (part.map == null || part.end > part.map.partitions()) {
      part.outcome = Outcome.UNKNOWN;
    } else if (!part.noCopy
        && (!context.waitsForWindows() || !part.isNew)
        && context.source().dataDisk(part.map) == disk) {
      copy(part, part.map.offset(part.first), part.map.offset(part.end));
    }
  }

  private void copy(Part part, long start, long blockEnd) throws IOException {
    boolean computes = context.computes(part.freshSums, part.map);
    int cell = context.cellBytes();
    long end = Math.min(blockEnd, part.to == Long.MAX_VALUE ? blockEnd : start + part.to);
    if (computes && part.from % cell != 0) {
      // Readers ask on at the end of an extent, which is that of a cell.
      part.outcome = Outcome.UNKNOWN;
      return;
    }
    long at = start + Math.min(part.from, blockEnd - start);
    while (!cancelled && at < end && (copiedBytes < MAX_BYTES || !part.isNew)) {
      if (!locate.hasRoom()) {
        part.outcome = Outcome.NO_ROOM;
        return;
      }
      int wanted = (int) Math.min(end - at, computes ? cell : MAX_BYTES);
      if (!hasRoom(computes ? wanted : 1) && !tryTakeChunk()) {
        part.outcome = Outcome.NO_MEMORY;
        return;
      }
      int most = Math.min(wanted, context.chunkBytes() - used);
      int next = part.map.partitionEndingAfter(part.first, part.end, at);
      int length = computes ? most : fittingBytes(part.map, next, at, most);
      int sums = computes ? 1 : part.map.countSums(next, at + length);
      if (length == 0 || !locate.tryTakeRoom(Located.extentBytes(sums))) {
        part.outcome = Outcome.NO_ROOM;
        return;
      }
      RegisteredChunk chunk = chunks.get(chunks.size() - 1);
      ByteBuffer target = chunk.slice(used, length);
      long beganNs = context.work().nowNs();
      part.map.read(at, target);
      readNs += context.work().onProgress(disk) - beganNs;
      reads++;
      long sum = computes ? sum(target.flip()) : 0;
      part.copies.add(
          new Copy(
              this,
              remote.address() + chunk.regionOffset() + used,
              remote.remoteKey(),
              at,
              length,
              sum));
      used += length;
      copiedBytes += length;
      at += length;
      part.from = at - start;
    }
    part.outcome = at >= end && !part.goesOn ? Outcome.COPIED : Outcome.OPEN;
  }

  /** So many of these bytes of a block have checksums for which the answer has room. */
  private int fittingBytes(MapOutput map, int next, long at, int lengthBytes) {
    int room = (locate.roomLeft() - Located.EXTENT_BYTES) / Located.SUM_BYTES;
    return (int) (map.endOfFittingSums(next, at, at + lengthBytes, room) - at);
  }

  private long sum(ByteBuffer bytes) {
    Checksum checksum = Located.newChecksum(context.checksumKind());
    checksum.update(bytes);
    return checksum.getValue();
  }

  private boolean hasRoom(int lengthBytes) {
    return !chunks.isEmpty() && context.chunkBytes() - used >= lengthBytes;
  }

  private boolean tryTakeChunk() {
    RegisteredChunk chunk = context.memory().tryTake(share);
    if (chunk == null) {
      return false;
    }
    chunks.add(chunk);
    remote = chunk.region().remote();
    used = 0;
    return true;
  }

  @Override
  public boolean hold(Object lease) {
    if (holder == lease) {
      return false;
    }
    holder = lease;
    holds++;
    return true;
  }

  @Override
  public void release(long nowNs) {
    holds--;
    releaseUnheld();
  }

  /** Releases its chunks, unless a lease holds them. */
  void releaseUnheld() {
    if (holds == 0) {
      for (RegisteredChunk chunk : chunks) {
        context.memory().release(chunk, share);
      }
      chunks.clear();
    }
  }
}
