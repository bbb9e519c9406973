// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.device.Capability;

/** Ranges of files as regions. */
public abstract class FileRegionContract extends VerbsContract {
  private static final Set<AccessFlag> REMOTE_READ = Set.of(AccessFlag.REMOTE_READ);
  private static final Set<AccessFlag> ON_DEMAND =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND);
  private static final int LENGTH = 300_000;

  @TempDir Path directory;
  private Path file;
  private byte[] content;

  @BeforeEach
  void writeAFile() throws Exception {
    assumeCan(Capability.FILE_REGIONS);
    content = new byte[LENGTH];
    new Random(1).nextBytes(content);
    file = Files.write(directory.resolve("shuffle.data"), content);
  }

  @Test
  void shouldReadAFileOfThePeer() throws Exception {
    MemoryRegion region = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    assertThat(region.access()).isEqualTo(REMOTE_READ);
    assertReads(connect(), region, 0, LENGTH);
  }

  @Test
  void shouldReadAFileOnDemandOrRefuseToRegisterIt() throws Exception {
    if (!server.device.info().can(Capability.ON_DEMAND_PAGING)) {
      assertThatThrownBy(() -> server.domain.registerFile(file, 0, LENGTH, ON_DEMAND))
          .isInstanceOf(UnsupportedOperationException.class);
      return;
    }
    MemoryRegion region = server.domain.registerFile(file, 0, LENGTH, ON_DEMAND);
    assertThat(region.access()).isEqualTo(ON_DEMAND);
    Pair pair = connect();
    assertReads(pair, region, 0, LENGTH);
    region.close();
    Node.Block sink = client.block(1, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(1, region));
    assertThat(result(client).status()).isEqualTo(refusal());
  }

  @Test
  void shouldReadAnUnalignedRange() throws Exception {
    MemoryRegion region = server.domain.registerFile(file, 12_345, 54_321, REMOTE_READ);
    assertThat(region.lengthBytes()).isEqualTo(54_321);
    assertReads(connect(), region, 12_345, 54_321);
  }

  @Test
  void shouldNotReachBytesOutsideTheRange() throws Exception {
    MemoryRegion region = server.domain.registerFile(file, 1000, 1000, REMOTE_READ);
    Node.Block sink = client.block(1001, 0, Node.SINK);
    connect().client().postSend(sink.readFrom(1, region));
    assertThat(result(client).status()).isEqualTo(refusal());
  }

  @Test
  void shouldReadAFileThatWasUnlinked() throws Exception {
    MemoryRegion region = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    Pair pair = connect();
    Files.delete(file);
    assertReads(pair, region, 0, LENGTH);
  }

  @Test
  void shouldDistinguishAFileFromALaterOneOfTheSameName() throws Exception {
    MemoryRegion first = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    Files.delete(file);
    byte[] other = new byte[LENGTH];
    Arrays.fill(other, (byte) 9);
    Files.write(file, other);
    MemoryRegion second = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    Pair pair = connect();
    assertReads(pair, first, 0, LENGTH);
    content = other;
    assertReads(pair, second, 0, LENGTH);
  }

  @Test
  void shouldKeepOtherWindowsOfAFileWhenOneIsClosed() throws Exception {
    MemoryRegion first = server.domain.registerFile(file, 0, 1000, REMOTE_READ);
    MemoryRegion second = server.domain.registerFile(file, 1000, 1000, REMOTE_READ);
    Pair pair = connect();
    assertReads(pair, first, 0, 1000);
    first.close();
    assertReads(pair, second, 1000, 1000);
    Node.Block sink = client.block(1000, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(1, first));
    assertThat(result(client).status()).isEqualTo(refusal());
  }

  @Test
  void shouldFailAReadBeyondATruncatedEnd() throws Exception {
    assumeDeviates(Deviation.TRUNCATION_IS_AN_ERROR);
    MemoryRegion region = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    Pair pair = connect();
    truncate(LENGTH / 2);
    assertReads(pair, server.domain.registerFile(file, 0, LENGTH / 2, REMOTE_READ), 0, LENGTH / 2);
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(1, region));
    assertThat(result(client).status()).isEqualTo(WorkStatus.REMOTE_OPERATION_ERROR);
  }

  private void truncate(long length) throws Exception {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @Test
  void shouldSendFromAFile() throws Exception {
    MemoryRegion region = client.domain.registerFile(file, 1000, 100_000, REMOTE_READ);
    Pair pair = connect();
    Node.Block inbox = server.block(100_000, 0, Node.ALL);
    pair.server().postReceive(inbox.receive(1));
    pair.client().postSend(new WorkRequest(1).send(2).local(region, 0, 100_000));
    assertThat(result(server).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(inbox.bytes()).isEqualTo(Arrays.copyOfRange(content, 1000, 101_000));
  }

  @Test
  void shouldWriteFromAFile() throws Exception {
    MemoryRegion region = client.domain.registerFile(file, 1000, 200_000, REMOTE_READ);
    Pair pair = connect();
    Node.Block target = server.block(200_000, 0, Node.ALL);
    MemoryRegion to = target.region();
    pair.client()
        .postSend(
            new WorkRequest(1)
                .write(1, to.address(), to.remote().remoteKey())
                .local(region, 0, 200_000)
                .signalled());
    success(client);
    assertThat(target.bytes()).isEqualTo(Arrays.copyOfRange(content, 1000, 201_000));
  }

  @Test
  void shouldRefuseRangesThatCannotBeRegistered() throws Exception {
    assertThatThrownBy(() -> server.domain.registerFile(file, 1, LENGTH, REMOTE_READ))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(file.toString());
    assertThatThrownBy(
            () -> server.domain.registerFile(directory.resolve("none"), 0, 1, REMOTE_READ))
        .isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> server.domain.registerFile(directory, 0, 1, REMOTE_READ))
        .isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> server.domain.registerFile(file, 0, LENGTH, Node.READABLE))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldLeaveNoOtherFileInTheDirectory() throws Exception {
    MemoryRegion region = server.domain.registerFile(file, 0, LENGTH, REMOTE_READ);
    region.close();
    server.close();
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
    assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);
  }

  private void assertReads(Pair pair, MemoryRegion region, int from, int length) throws Exception {
    Node.Block sink = client.block(length, 0, Node.SINK);
    read(client, pair.client(), sink, region);
    assertThat(sink.bytes()).isEqualTo(Arrays.copyOfRange(content, from, from + length));
  }
}
