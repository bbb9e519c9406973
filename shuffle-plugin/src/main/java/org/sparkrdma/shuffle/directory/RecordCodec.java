// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;

/**
 * Encodes records as bytes, and checks messages, which are lists of JDK types. Spark's RPC reads a
 * message with the executor's own class loader, which does not contain jars from {@code --jars},
 * and closes the connection to the driver when a class is missing. Stateless.
 *
 * <pre>
 *   record    format int, executor id text, publisher long, epoch long, 1 byte, host text,
 *             number of addresses byte, address, ..., engine text, protocol int, incarnation long,
 *             token of 32 bytes
 *   or        format int, executor id text, publisher long, epoch long, 0 byte,
 *             number of reasons byte, reason text, ...
 *   address   4 or 16 byte, so many bytes, prefix length of the subnet byte, port int
 *   text      as of DataOutput.writeUTF
 * </pre>
 *
 * <p>Another format number is that of another version of this plug-in: the driver refuses such a
 * record, and executors ignore it.
 */
final class RecordCodec {
  static final int FORMAT = 5;

  private static final int MAX_NAME_CHARS = 255;
  private static final int MAX_REASONS = 16;
  private static final int MAX_REASON_CHARS = 1_000;

  private RecordCodec() {}

  static byte[] encode(ExecutorRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(FORMAT);
      out.writeUTF(record.executorId());
      out.writeLong(record.publisher());
      out.writeLong(record.epoch());
      out.writeBoolean(record.endpoint().isPresent());
      if (record.endpoint().isPresent()) {
        write(record.endpoint().get(), out);
      } else {
        int reasons = Math.min(MAX_REASONS, record.reasons().size());
        out.writeByte(reasons);
        for (String reason : record.reasons().subList(0, reasons)) {
          out.writeUTF(reason.substring(0, Math.min(MAX_REASON_CHARS, reason.length())));
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("a name is too long to be encoded", e);
    }
    return bytes.toByteArray();
  }

  private static void write(Endpoint endpoint, DataOutputStream out) throws IOException {
    out.writeUTF(endpoint.host());
    out.writeByte(endpoint.addresses().size());
    for (ListenerAddress address : endpoint.addresses()) {
      byte[] network = address.network().address().getAddress();
      out.writeByte(network.length);
      out.write(network);
      out.writeByte(address.network().prefixBits());
      out.writeInt(address.port());
    }
    out.writeUTF(endpoint.engine());
    out.writeInt(endpoint.protocol());
    out.writeLong(endpoint.incarnation());
    out.write(endpoint.token());
  }

  /**
   * @throws IllegalArgumentException when it is no record, or a field is missing or out of range
   */
  static ExecutorRecord decode(byte[] encoded) {
    ByteBuffer in = ByteBuffer.wrap(encoded);
    try {
      int format = in.getInt();
      if (format != FORMAT) {
        throw new IllegalArgumentException("bad record: format=" + format + " known=" + FORMAT);
      }
      String executorId = name(text(in));
      long publisher = in.getLong();
      long epoch = in.getLong();
      boolean available = in.get() == 1;
      Optional<Endpoint> endpoint =
          available ? Optional.of(endpoint(executorId, in)) : Optional.empty();
      List<String> reasons = available ? List.of() : reasons(in);
      if (in.hasRemaining()) {
        throw new IllegalArgumentException("bad record: bytes too many=" + in.remaining());
      }
      return new ExecutorRecord(executorId, publisher, epoch, endpoint, reasons);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("bad record: it is too short", e);
    }
  }

  private static Endpoint endpoint(String executorId, ByteBuffer in) {
    String host = name(text(in));
    List<ListenerAddress> addresses = new ArrayList<>();
    // The endpoint refuses to have none.
    for (int left = in.get(); left > 0; left--) {
      if (addresses.size() == Endpoint.MAX_ADDRESSES) {
        throw new IllegalArgumentException("bad endpoint: too many addresses");
      }
      InetAddress address = address(bytes(in, in.get() & 0xff));
      addresses.add(new ListenerAddress(new NetworkAddress(address, in.get() & 0xff), in.getInt()));
    }
    String engine = name(text(in));
    int protocol = in.getInt();
    long incarnation = in.getLong();
    byte[] token = bytes(in, Endpoint.TOKEN_BYTES);
    Endpoint endpoint =
        new Endpoint(executorId, host, addresses, engine, protocol, incarnation, token);
    if (protocol < 0) {
      throw new IllegalArgumentException("bad endpoint: " + endpoint);
    }
    return endpoint;
  }

  private static InetAddress address(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("bad endpoint: addressBytes=" + bytes.length, e);
    }
  }

  private static List<String> reasons(ByteBuffer in) {
    List<String> reasons = new ArrayList<>();
    for (int left = in.get() & 0xff; left > 0; left--) {
      String reason = text(in);
      if (reasons.size() == MAX_REASONS || reason.length() > MAX_REASON_CHARS) {
        throw new IllegalArgumentException("bad record: reasonChars=" + reason.length());
      }
      reasons.add(reason);
    }
    return reasons;
  }

  private static byte[] bytes(ByteBuffer in, int length) {
    if (length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  private static String text(ByteBuffer in) {
    int start = in.position();
    int length = Short.BYTES + Short.toUnsignedInt(in.getShort());
    in.position(start);
    byte[] text = bytes(in, length);
    try (DataInputStream data = new DataInputStream(new ByteArrayInputStream(text))) {
      return data.readUTF();
    } catch (IOException e) {
      throw new IllegalArgumentException("bad record: a text is malformed", e);
    }
  }

  /** A list of exactly {@code size} elements. */
  static List<?> list(Object encoded, int size) {
    List<?> list = as(List.class, encoded);
    if (list.size() != size) {
      throw new IllegalArgumentException("bad message: size=" + list.size() + " wanted=" + size);
    }
    return list;
  }

  static <T> T as(Class<T> type, Object value) {
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException("bad message: wanted=" + type.getSimpleName());
    }
    return type.cast(value);
  }

  /** A name that is neither empty nor too long. */
  static String name(Object value) {
    String name = as(String.class, value);
    if (name.isEmpty() || name.length() > MAX_NAME_CHARS) {
      throw new IllegalArgumentException("bad message: nameChars=" + name.length());
    }
    return name;
  }
}
