// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.sparkrdma.shuffle.serve.WindowPrice;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * What a device costs beside the time of its READs. Times are in nanoseconds.
 *
 * @param setUpNs from the address until the connection is established
 * @param registrations of files, by length
 * @param registrationsNotMeasured why not all lengths were measured; else empty
 * @param postNs a post of the only thread that posts; 0 where no other may than the one that polls
 * @param postOfFourNs a post of each of four threads at once; 0 likewise
 * @param readsPerSecond of 4 KiB, each after the one before
 * @param readsAtOncePerSecond of 4 KiB, 16 in flight
 */
public record CardPrices(
    long setUpNs,
    List<Registration> registrations,
    String registrationsNotMeasured,
    long postNs,
    long postOfFourNs,
    double readsPerSecond,
    double readsAtOncePerSecond) {
  private static final int[] LENGTHS = {64 << 10, 1 << 20, 16 << 20};
  private static final int TRIES = 7;
  private static final int ALIGNMENT = 4_096;

  /**
   * A range of a file: medians, but for the first two.
   *
   * @param firstNs first registration of a file that was just written
   * @param coldNs registration of one that is not in the page cache; 0 where it cannot be kept out
   * @param copyNs reading it into memory, as a copy does
   */
  public record Registration(
      int bytes, long firstNs, long coldNs, long warmNs, long deregisterNs, long copyNs) {
    /** What one in the page cache costs: registration, deregistration, copy. */
    private long[] costs() {
      return new long[] {warmNs, deregisterNs, copyNs};
    }

    /** All times in that order. */
    public long[] times() {
      return new long[] {firstNs, coldNs, warmNs, deregisterNs, copyNs};
    }
  }

  /** Adds what each length costs, up to one that is refused. */
  static void measureFiles(ProtectionDomain domain, Path directory, List<Registration> measured)
      throws IOException, VerbsException {
    for (int bytes : LENGTHS) {
      Path file = Files.createTempFile(directory, "rdma-perf", ".tmp");
      try {
        boolean cold = write(file, bytes, ExtendedOpenOption.DIRECT);
        long coldNs = cold ? register(domain, file, bytes)[0] : 0;
        if (!write(file, bytes, StandardOpenOption.TRUNCATE_EXISTING)) {
          throw new IOException("no room for " + size(bytes));
        }
        long[][] times = new long[TRIES + 1][];
        for (int i = 0; i <= TRIES; i++) {
          times[i] = register(domain, file, bytes);
        }
        measured.add(
            new Registration(
                bytes, times[0][0], coldNs, median(times, 0), median(times, 1), median(times, 2)));
      } catch (VerbsException e) {
        // Of ENOMEM, the engine says how to raise the limit of locked memory.
        throw new VerbsException(
            e.call(),
            e.errno(),
            "a file of " + size(bytes) + " cannot be registered: " + e.getMessage(),
            e);
      } finally {
        Files.delete(file);
      }
    }
  }

  /** False where the file system does not write in this way. */
  private static boolean write(Path file, int bytes, OpenOption how) {
    ByteBuffer content = ByteBuffer.allocateDirect(bytes + ALIGNMENT).alignedSlice(ALIGNMENT);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, how)) {
      return channel.write(content.limit(bytes)) == bytes;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Times of a registration, its end, and a copy. */
  private static long[] register(ProtectionDomain domain, Path file, int bytes)
      throws IOException, VerbsException {
    ByteBuffer copy = ByteBuffer.allocateDirect(bytes);
    long beganNs = System.nanoTime();
    MemoryRegion region = domain.registerFile(file, 0, bytes, Set.of(AccessFlag.REMOTE_READ));
    long registeredNs = System.nanoTime();
    region.close();
    long endedNs = System.nanoTime();
    try (FileChannel channel = FileChannel.open(file)) {
      channel.read(copy);
    }
    return new long[] {registeredNs - beganNs, endedNs - registeredNs, System.nanoTime() - endedNs};
  }

  /** Without the first. */
  private static long median(long[][] times, int part) {
    long[] sorted = Arrays.stream(times, 1, times.length).mapToLong(time -> time[part]).toArray();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /**
   * What this means for tuning, in one line: for which blocks a server registers windows, by the
   * price of a call and of a page, which are copied, and the setting where one helps.
   */
  public String advice() {
    if (registrations.size() < 2) {
      return registrationsNotMeasured;
    }
    Registration shortest = registrations.get(0);
    Registration longest = registrations.get(registrations.size() - 1);
    WindowPrice price =
        WindowPrice.of(shortest.bytes(), shortest.costs(), longest.bytes(), longest.costs());
    List<String> windows = new ArrayList<>();
    for (Registration one : registrations) {
      long blockBytes = price.longestBlockBytes(one.bytes());
      if (blockBytes > 0) {
        String blocks =
            blockBytes == one.bytes() ? "all blocks" : "blocks up to " + size(blockBytes);
        windows.add("windows of " + size(one.bytes()) + " pay for " + blocks);
      }
    }
    String end = windows.isEmpty() ? "set spark.shuffle.rdma.serve=copy" : "no setting is needed";
    return (windows.isEmpty() ? "copies, because no window pays" : String.join(", ", windows))
        + (" (" + price.parts() + "); ")
        + (registrationsNotMeasured.isEmpty() ? end : registrationsNotMeasured);
  }

  /** As in "64 KiB". */
  public static String size(long bytes) {
    return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }
}
