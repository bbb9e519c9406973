// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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

/**
 * The line that a listener writes to each TCP connection, as in {@code sparkrdma-doctor 3 ibverbs
 * 10.99.1.1/24/40123}: version, engine, and each address with the length of its prefix and a port.
 *
 * @param engine name of the listener's engine
 * @param addresses where it listens by RDMA, preferred first
 */
record Announcement(String engine, List<ListenerAddress> addresses) {
  private static final int MAX_CHARS = 4_096;
  private static final String BEGIN = "sparkrdma-doctor 3 ";

  /** Only literal addresses, so that no line makes this host ask a name server. */
  private static final Pattern ADDRESS =
      Pattern.compile("([0-9a-fA-F:.]{2,45})/([0-9]{1,3})/([0-9]{1,5})");

  private static final Pattern LINE =
      Pattern.compile(BEGIN + "([a-z]{1,20})((?: [0-9a-fA-F:./]{1,60}){1,32})");

  Announcement {
    addresses = List.copyOf(addresses);
  }

  String line() {
    StringBuilder line = new StringBuilder(BEGIN + engine);
    for (ListenerAddress address : addresses) {
      String literal = NetworkAddress.textForPeers(address.network().address());
      line.append(
          String.format(
              Locale.ROOT, " %s/%d/%d", literal, address.network().prefixBits(), address.port()));
    }
    return line.append('\n').toString();
  }

  /**
   * Connects to a listener.
   *
   * @param limitMs time for the TCP connection, for the whole line after it, and for each read of
   *     the socket afterwards
   * @throws IOException when TCP does not reach it, or when another program answers; the message
   *     goes on after the name of the peer
   */
  static Connected connect(String host, int port, int limitMs) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), limitMs);
      socket.setTcpNoDelay(true);
      Announcement announcement = parse(line(socket, limitMs));
      socket.setSoTimeout(limitMs);
      return new Connected(socket, announcement);
    } catch (UnknownHostException e) {
      socket.close();
      throw new IOException("is an unknown host: its name has no address here", e);
    } catch (IOException e) {
      socket.close();
      throw new IOException("port " + port + " is not reached by TCP: " + e.getMessage(), e);
    }
  }

  /** A TCP connection to a listener, and its line. */
  record Connected(Socket socket, Announcement announcement) {}

  private static String line(Socket socket, int limitMs) throws IOException {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
    InputStream input = socket.getInputStream();
    socket.setSoTimeout(limitMs);
    StringBuilder line = new StringBuilder();
    int next = input.read();
    while (next >= 0 && next != '\n' && line.length() < MAX_CHARS) {
      line.append((char) next);
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new SocketTimeoutException("no line of a listener in " + limitMs + " ms");
      }
      // A peer may send one byte at a time.
      socket.setSoTimeout((int) leftMs);
      next = input.read();
    }
    return line.toString().stripTrailing();
  }

  /**
   * @throws IOException when the line is not one of a listener of this version
   */
  static Announcement parse(String line) throws IOException {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw notOfThisVersion(null);
    }
    List<ListenerAddress> addresses = new ArrayList<>();
    for (String word : matcher.group(2).trim().split(" ", -1)) {
      addresses.add(address(word));
    }
    return new Announcement(matcher.group(1), addresses);
  }

  private static IOException notOfThisVersion(Exception cause) {
    return new IOException("another program, or another version of the plug-in, answers", cause);
  }

  private static ListenerAddress address(String word) throws IOException {
    Matcher matcher = ADDRESS.matcher(word);
    if (!matcher.matches()) {
      throw notOfThisVersion(null);
    }
    try {
      NetworkAddress network =
          new NetworkAddress(
              InetAddress.getByName(matcher.group(1)), Integer.parseInt(matcher.group(2)));
      return new ListenerAddress(network, Integer.parseInt(matcher.group(3)));
    } catch (IllegalArgumentException | UnknownHostException e) {
      throw notOfThisVersion(e);
    }
  }
}
