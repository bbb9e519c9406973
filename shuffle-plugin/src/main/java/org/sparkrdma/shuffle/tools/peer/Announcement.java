// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.address.NetworkAddress.Kind;

/**
 * The line that a listener writes to each TCP connection, as in {@code sparkrdma-doctor 2 ibverbs
 * 1024/4096 10.99.1.1/24/40123}: version, engine, MTU of its port and its maximum, and each address
 * with the length of its prefix and a port. A GID begins with {@code gid=}.
 *
 * @param engine name of the listener's engine
 * @param mtuBytes path MTU of the listener's port
 * @param maxMtuBytes the largest that the port could use
 * @param addresses where it listens by RDMA, preferred first
 */
record Announcement(String engine, int mtuBytes, int maxMtuBytes, List<ListenerAddress> addresses) {
  private static final int MAX_CHARS = 4_096;
  private static final String GID = "gid=";
  private static final String BEGIN = "sparkrdma-doctor 2 ";

  /** Only literal addresses, so that no line makes this host ask a name server. */
  private static final Pattern ADDRESS =
      Pattern.compile("(gid=)?([0-9a-fA-F:.]{2,45})/([0-9]{1,3})/([0-9]{1,5})");

  private static final Pattern LINE =
      Pattern.compile(
          BEGIN
              + "([a-z]{1,20}) ([0-9]{1,6})/([0-9]{1,6})((?: (?:gid=)?[0-9a-fA-F:./]{1,60}){1,32})");

  Announcement {
    addresses = List.copyOf(addresses);
  }

  String line() {
    StringBuilder line = new StringBuilder(BEGIN + engine + " " + mtuBytes + "/" + maxMtuBytes);
    for (ListenerAddress address : addresses) {
      String literal = address.network().address().getHostAddress().replaceFirst("%.*", "");
      line.append(
          String.format(
              Locale.ROOT,
              " %s%s/%d/%d",
              address.network().isGid() ? GID : "",
              literal,
              address.network().prefixBits(),
              address.port()));
    }
    return line.append('\n').toString();
  }

  /**
   * Receives a line, and no byte after it. The socket's time-out is that of the whole line, and is
   * the same afterwards.
   *
   * @throws NoListenerException when no line of a listener of this version is received in that time
   * @throws IOException when the connection breaks
   */
  static Announcement receive(Socket socket) throws IOException {
    int limitMs = socket.getSoTimeout();
    try {
      Announcement announcement = parse(line(socket, limitMs));
      socket.setSoTimeout(limitMs);
      return announcement;
    } catch (SocketTimeoutException e) {
      throw new NoListenerException(
          "accepts TCP connections, but sent no line of a doctor --listen or perf server in "
              + limitMs
              + " ms",
          e);
    }
  }

  private static String line(Socket socket, int limitMs) throws IOException {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
    InputStream input = socket.getInputStream();
    StringBuilder line = new StringBuilder();
    int next = input.read();
    while (next >= 0 && next != '\n' && line.length() < MAX_CHARS) {
      line.append((char) next);
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new SocketTimeoutException("line not complete");
      }
      // A peer may send one byte at a time.
      socket.setSoTimeout((int) leftMs);
      next = input.read();
    }
    return line.toString().stripTrailing();
  }

  /**
   * @throws NoListenerException when the line is not one of a listener of this version
   */
  static Announcement parse(String line) throws NoListenerException {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw notOfThisVersion(null);
    }
    List<ListenerAddress> addresses = new ArrayList<>();
    for (String word : matcher.group(4).trim().split(" ", -1)) {
      addresses.add(address(word));
    }
    return new Announcement(
        matcher.group(1),
        Integer.parseInt(matcher.group(2)),
        Integer.parseInt(matcher.group(3)),
        addresses);
  }

  private static NoListenerException notOfThisVersion(IOException cause) {
    return new NoListenerException(
        "is that of another program, or of another version of the plug-in: it did not send the line"
            + " of a doctor --listen or perf server",
        cause);
  }

  private static ListenerAddress address(String word) throws NoListenerException {
    Matcher matcher = ADDRESS.matcher(word);
    if (!matcher.matches()) {
      throw notOfThisVersion(null);
    }
    try {
      NetworkAddress network =
          new NetworkAddress(
              InetAddress.getByName(matcher.group(2)),
              Integer.parseInt(matcher.group(3)),
              matcher.group(1) == null ? Kind.IP : Kind.GID);
      return new ListenerAddress(network, Integer.parseInt(matcher.group(4)));
    } catch (IllegalArgumentException | UnknownHostException e) {
      throw notOfThisVersion(new IOException(e));
    }
  }
}
