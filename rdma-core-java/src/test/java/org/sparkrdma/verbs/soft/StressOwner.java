// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/** The other process of {@link DeregisterStressTest}: registers, deregisters, overwrites. */
final class StressOwner {
  static final int CONTROL_BYTES = 4096;
  static final int QUEUE_PAIR = 1;

  private static final int LENGTH = 4096;
  private static final byte FOREIGN = (byte) 0xee;
  private static final int VALUES = 100;
  private static final int LONGEST_PAUSE = 200;

  private StressOwner() {}

  /** Arguments: shared directory, control file, least number of rounds. */
  public static void main(String[] args) throws Exception {
    var settings = SoftSettings.of(EngineSettings.of(Map.of("soft.directory", args[0])));
    int rounds = Integer.parseInt(args[2]);
    try (SoftDevice device = SoftDevice.open(settings, HostIdentity.self(), true, d -> {});
        FileChannel channel =
            FileChannel.open(Path.of(args[1]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      var board = new Board(channel.map(FileChannel.MapMode.READ_WRITE, 0, CONTROL_BYTES));
      run(device, board, rounds);
    }
  }

  private static void run(SoftDevice device, Board board, int rounds) throws Exception {
    try (var domain = (SoftProtectionDomain) device.allocateProtectionDomain();
        var memory = device.allocate(LENGTH)) {
      int index = SharedTable.queuePairIndex(QUEUE_PAIR);
      device.table.publishQueuePair(index, QUEUE_PAIR, domain.id(), RegionAccess.REMOTE_READ);
      System.out.printf("%-64s", device.directory.name());
      System.out.flush();
      ByteBuffer bytes = memory.slice(0, LENGTH);
      byte[] content = new byte[LENGTH];
      byte[] foreign = new byte[LENGTH];
      Arrays.fill(foreign, FOREIGN);
      var random = new SplittableRandom(1);
      // On a busy machine the reader seldom runs at the same time.
      for (int round = 1; round <= rounds || !board.hasEnough(); round++) {
        byte value = (byte) (1 + round % VALUES);
        Arrays.fill(content, value);
        bytes.put(0, content);
        MemoryRegion region = domain.register(memory, 0, LENGTH, Set.of(AccessFlag.REMOTE_READ));
        board.publish(round, region.address(), region.remote().remoteKey32(), value);
        for (int pause = random.nextInt(LONGEST_PAUSE); pause > 0; pause--) {
          Thread.onSpinWait();
        }
        region.close();
        bytes.put(0, foreign);
      }
      board.finish();
    }
  }

  /** Passes the latest valid key from the owner to the reader. */
  static final class Board {
    private static final VarHandle LONGS =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int VERSION = 0;
    private static final int ADDRESS = 8;
    private static final int KEY_AND_VALUE = 16;
    private static final int DONE = 24;
    private static final int ENOUGH = 32;

    private final ByteBuffer bytes;
    private long version;
    private long address;
    private long keyAndValue;

    Board(ByteBuffer bytes) {
      this.bytes = bytes;
    }

    void publish(long round, long newAddress, int key, byte value) {
      LONGS.setVolatile(bytes, VERSION, 2 * round - 1);
      LONGS.setVolatile(bytes, ADDRESS, newAddress);
      LONGS.setVolatile(bytes, KEY_AND_VALUE, ((long) value << 32) | (key & 0xffff_ffffL));
      LONGS.setVolatile(bytes, VERSION, 2 * round);
    }

    void finish() {
      LONGS.setVolatile(bytes, DONE, 1L);
    }

    boolean isDone() {
      return (long) LONGS.getVolatile(bytes, DONE) != 0;
    }

    /** The reader has read often enough with valid and with invalid keys. */
    void reportEnough() {
      LONGS.setVolatile(bytes, ENOUGH, 1L);
    }

    boolean hasEnough() {
      return (long) LONGS.getVolatile(bytes, ENOUGH) != 0;
    }

    long rounds() {
      return (long) LONGS.getVolatile(bytes, VERSION) / 2;
    }

    /** Reads the present entry; false during a write and before the first one. */
    boolean read() {
      version = (long) LONGS.getVolatile(bytes, VERSION);
      address = (long) LONGS.getVolatile(bytes, ADDRESS);
      keyAndValue = (long) LONGS.getVolatile(bytes, KEY_AND_VALUE);
      return version > 0 && version % 2 == 0 && (long) LONGS.getVolatile(bytes, VERSION) == version;
    }

    long version() {
      return version;
    }

    long address() {
      return address;
    }

    int key() {
      return (int) keyAndValue;
    }

    byte value() {
      return (byte) (keyAndValue >>> 32);
    }
  }
}
