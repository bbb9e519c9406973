// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
import org.sparkrdma.verbs.VerbsException;

/** Both sides on the loopback engine. */
@Timeout(60)
class PeerCheckTest {
  private static final long WAIT_NS = 1_000_000;
  private static final String HERE = "127.0.0.1";

  private ProbedDevice own;

  @BeforeEach
  void open() throws Exception {
    own = RunningListener.device();
  }

  @AfterEach
  void close() {
    own.close();
    // Its memory is unmapped when nothing refers to it.
    own = null;
  }

  /** One of them has asked for more bytes than it takes. */
  @Test
  void shouldEndAlthoughClientsAreSilent() throws Exception {
    try (PeerListener listener = new PeerListener(own, 0, 1);
        Socket silent = new Socket(InetAddress.getLoopbackAddress(), listener.port());
        Socket stalled = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      stalled.getOutputStream().write(new byte[] {0, 16, 0, 0});
      listener.serve(WAIT_NS);
      listener.serveUntil(System.nanoTime());
      assertThat(silent.getInputStream().readAllBytes()).isNotEmpty();
    }
  }

  @Test
  void shouldServeANewClientBesideSilentConnectionsByRdma() throws Exception {
    List<ReadMeter> meters = new ArrayList<>();
    try (RunningListener listener = new RunningListener()) {
      Announcement.Connected peer = Announcement.connect(HERE, listener.port(), 3_000);
      peer.socket().close();
      for (int i = 0; i < 20; i++) {
        meters.add(new ReadMeter(own.device()));
        List<ListenerAddress> addresses = peer.announcement().addresses();
        meters.get(i).connect(AddressPair.of(own.choice().addresses(), addresses));
      }
      assertThat(meters.get(19).latenciesNs(8, 1)).hasSize(1);
    } finally {
      meters.forEach(ReadMeter::close);
    }
  }

  @Test
  void shouldReportThatAnotherProgramAnswers() throws Exception {
    assertThat(answeredBy("SSH-2.0-OpenSSH_9.2\r\n"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.PROBLEM);
              assertThat(finding.message())
                  .contains("another program, or another version of the plug-in, answers");
              assertThat(finding.advice()).contains("with the same jar");
            });
    assertThatThrownBy(() -> SharedRegion.of(new byte[3]))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("another program listens");
  }

  @Test
  void shouldLimitTheTimeOfAWholeLine() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread slow = new Thread(() -> writeSlowly(server), "peer-answer");
      slow.start();
      assertThat(new PeerCheck(HERE, server.getLocalPort(), 100).run(own))
          .singleElement()
          .satisfies(
              finding ->
                  assertThat(finding.message())
                      .containsPattern("no line of a listener in 100 ms|Read timed out"));
      slow.join();
    }
  }

  /** Sends a character every few milliseconds, until the client closes the connection. */
  private static void writeSlowly(ServerSocket server) {
    try (Socket client = server.accept()) {
      while (true) {
        client.getOutputStream().write('s');
        LockSupport.parkNanos(5 * WAIT_NS);
      }
    } catch (IOException e) {
      // Closed by the client.
    }
  }

  @Test
  void shouldReportThatOnlyTcpReachesThePeer() throws Exception {
    ListenerAddress none =
        new ListenerAddress(NetworkAddress.ofHost(InetAddress.getLoopbackAddress()), 9);
    assertThat(answeredBy(new Announcement("soft", List.of(none)).line()))
        .extracting(finding -> finding.level() + " " + finding.message())
        .satisfiesExactly(
            text -> assertThat(text).startsWith("OK Peer"),
            text ->
                assertThat(text)
                    .startsWith("PROBLEM Peer 127.0.0.1 is not reached by RDMA from=127.0.0.1"));
  }

  /** Result of a check whose TCP connection gets that text. */
  private List<Finding> answeredBy(String text) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread answer = new Thread(() -> write(server, text), "peer-answer");
      answer.start();
      List<Finding> findings = new PeerCheck(HERE, server.getLocalPort()).run(own);
      answer.join();
      return findings;
    }
  }

  private static void write(ServerSocket server, String text) {
    try (Socket client = server.accept()) {
      client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
