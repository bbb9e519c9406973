// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** One TCP connection to a {@link TcpSource}. Confined to one thread; its creator closes it. */
final class TcpMeter implements Meter {
  private final Socket socket;
  private final InputStream input;
  private final OutputStream output;
  private final byte[] request = new byte[Integer.BYTES];
  private final byte[] content = new byte[SharedRegion.BYTES];

  /**
   * @param socket connected; its announcement is read; its time limit of reads holds
   */
  TcpMeter(Socket socket) throws IOException {
    this.socket = socket;
    this.input = socket.getInputStream();
    this.output = socket.getOutputStream();
  }

  @Override
  public long[] latenciesNs(int lengthBytes, int count) throws IOException {
    long[] times = new long[count];
    for (int i = 0; i < times.length; i++) {
      long start = System.nanoTime();
      ask(lengthBytes);
      receive(lengthBytes);
      times[i] = System.nanoTime() - start;
    }
    verify(lengthBytes);
    Arrays.sort(times);
    return times;
  }

  @Override
  public Speed speed(int lengthBytes, int atOnce, long limitNs) throws IOException {
    long start = System.nanoTime();
    long asked = 0;
    for (long done = 0; done == 0 || done < asked; done++) {
      while (asked - done < atOnce && (asked == 0 || System.nanoTime() - start < limitNs)) {
        ask(lengthBytes);
        asked++;
      }
      receive(lengthBytes);
    }
    long timeNs = System.nanoTime() - start;
    verify(lengthBytes);
    return new Speed(asked * lengthBytes, timeNs);
  }

  /** CPU time that the process at the other end has used, in nanoseconds. */
  long peerCpuNs() throws IOException {
    ask(TcpSource.CPU_TIME);
    receive(Long.BYTES);
    return ByteBuffer.wrap(content).getLong();
  }

  private void ask(int lengthBytes) throws IOException {
    ByteBuffer.wrap(request).putInt(lengthBytes);
    output.write(request);
  }

  private void receive(int lengthBytes) throws IOException {
    if (input.readNBytes(content, 0, lengthBytes) < lengthBytes) {
      throw new EOFException("the peer has ended the connection");
    }
  }

  private void verify(int lengthBytes) throws IOException {
    int wrong = SharedRegion.firstWrong(ByteBuffer.wrap(content, 0, lengthBytes));
    if (wrong >= 0) {
      throw new IOException("wrong byte: offset=" + wrong);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
