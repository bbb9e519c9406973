// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the bytes of the shared region by TCP, as many as each request asks for: a request is an
 * int, the number of bytes; 0 asks for the CPU time that this process has used, a long in
 * nanoseconds. One thread for each connection; close ends them, and {@link #endSilent} those whose
 * client does nothing. Safe for any thread.
 */
final class TcpSource implements Closeable {
  /** The request for the CPU time. */
  static final int CPU_TIME = 0;

  private static final Logger LOG = LoggerFactory.getLogger(TcpSource.class);
  private static final int MAX_CONNECTIONS = 16;

  private final ByteBuffer content = ByteBuffer.allocateDirect(SharedRegion.BYTES);

  /** The open connections, each with the time of its last request or answer. */
  private final Map<SocketChannel, Long> clients = new ConcurrentHashMap<>();

  /** A source without connections. */
  TcpSource() {
    for (int i = 0; i < SharedRegion.BYTES; i++) {
      content.put(i, SharedRegion.byteAt(i));
    }
  }

  /** Serves a connection from now on, or closes it when there are too many. */
  void take(SocketChannel client) throws IOException {
    if (clients.size() >= MAX_CONNECTIONS) {
      client.close();
      return;
    }
    clients.put(client, System.nanoTime());
    Thread thread = new Thread(() -> run(client), "perf-tcp");
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether a client is connected. */
  boolean hasClients() {
    return !clients.isEmpty();
  }

  /**
   * Closes connections on which nothing has happened since this time of {@link System#nanoTime}.
   */
  void endSilent(long sinceNs) throws IOException {
    for (Map.Entry<SocketChannel, Long> client : clients.entrySet()) {
      if (client.getValue() - sinceNs < 0) {
        client.getKey().close();
      }
    }
  }

  private void run(SocketChannel client) {
    try (client) {
      client.socket().setTcpNoDelay(true);
      serve(client);
    } catch (EOFException e) {
      LOG.debug("A client has ended its TCP connection", e);
    } catch (IOException e) {
      LOG.debug("A TCP connection of a client failed", e);
    } finally {
      clients.remove(client);
    }
  }

  private void serve(SocketChannel client) throws IOException {
    ByteBuffer request = ByteBuffer.allocateDirect(Integer.BYTES);
    ByteBuffer bytes = content.duplicate();
    while (true) {
      readFully(client, request.clear());
      clients.replace(client, System.nanoTime());
      int length = request.getInt(0);
      if (length < 0 || length > SharedRegion.BYTES) {
        throw new IOException("bad request: lengthBytes=" + length);
      }
      ByteBuffer answer =
          length == CPU_TIME
              ? ByteBuffer.allocate(Long.BYTES).putLong(0, PerfClient.cpuNs())
              : bytes.position(0).limit(length);
      while (answer.hasRemaining()) {
        client.write(answer);
      }
      clients.replace(client, System.nanoTime());
    }
  }

  private static void readFully(SocketChannel from, ByteBuffer into) throws IOException {
    while (into.hasRemaining()) {
      if (from.read(into) < 0) {
        throw new EOFException("the client has ended the connection");
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel client : clients.keySet()) {
      client.close();
    }
  }
}
