// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;

/**
 * Encodes records and messages as lists of JDK types. Spark's RPC reads a message with the
 * executor's own class loader, which does not contain jars from {@code --jars}, and closes the
 * connection to the driver when a class is missing. Stateless.
 *
 * <pre>
 *   record    [format, executor id, publisher, epoch, [address, ...], engine, protocol, incarnation,
 *              token of 32 bytes, host]
 *   or        [format, executor id, publisher, epoch, [reason, ...]]
 *   address   [4 or 16 bytes, prefix length of the subnet as int, port as int]
 * </pre>
 *
 * <p>Another format number is that of another version of this plug-in: the driver refuses such a
 * record, and executors ignore it.
 */
final class RecordCodec {
  static final int FORMAT = 4;

  private static final int AVAILABLE_FIELDS = 10;
  private static final int UNAVAILABLE_FIELDS = 5;
  private static final int ADDRESS_FIELDS = 3;
  private static final int MAX_NAME_CHARS = 255;
  private static final int MAX_REASONS = 16;
  private static final int MAX_REASON_CHARS = 1_000;

  private RecordCodec() {}

  static List<Object> encode(ExecutorRecord record) {
    List<Object> encoded = new ArrayList<>();
    encoded.add(FORMAT);
    encoded.add(record.executorId());
    encoded.add(record.publisher());
    encoded.add(record.epoch());
    if (record.endpoint().isPresent()) {
      Endpoint endpoint = record.endpoint().get();
      encoded.add(encode(endpoint.addresses()));
      encoded.add(endpoint.engine());
      encoded.add(endpoint.protocol());
      encoded.add(endpoint.incarnation());
      encoded.add(endpoint.token());
      encoded.add(endpoint.host());
    } else {
      encoded.add(shortened(record.reasons()));
    }
    return encoded;
  }

  private static List<Object> encode(List<ListenerAddress> addresses) {
    List<Object> encoded = new ArrayList<>();
    for (ListenerAddress address : addresses) {
      NetworkAddress network = address.network();
      encoded.add(
          new ArrayList<Object>(
              List.of(network.address().getAddress(), network.prefixBits(), address.port())));
    }
    return encoded;
  }

  private static List<String> shortened(List<String> reasons) {
    List<String> shortened = new ArrayList<>();
    for (String reason : reasons.subList(0, Math.min(MAX_REASONS, reasons.size()))) {
      shortened.add(reason.substring(0, Math.min(MAX_REASON_CHARS, reason.length())));
    }
    return shortened;
  }

  /**
   * @throws IllegalArgumentException when it is no record, or a field is missing or out of range
   */
  static ExecutorRecord decode(Object encoded) {
    List<?> list = as(List.class, encoded);
    int format = list.isEmpty() ? 0 : as(Integer.class, list.get(0));
    if (format != FORMAT) {
      throw new IllegalArgumentException("bad record: format=" + format + " known=" + FORMAT);
    }
    boolean available = list.size() != UNAVAILABLE_FIELDS;
    List<?> fields = list(list, available ? AVAILABLE_FIELDS : UNAVAILABLE_FIELDS);
    String executorId = name(fields.get(1));
    return new ExecutorRecord(
        executorId,
        as(Long.class, fields.get(2)),
        as(Long.class, fields.get(3)),
        available ? Optional.of(endpoint(executorId, fields)) : Optional.empty(),
        available ? List.of() : reasons(fields.get(4)));
  }

  private static Endpoint endpoint(String executorId, List<?> fields) {
    Endpoint endpoint =
        new Endpoint(
            executorId,
            name(fields.get(9)),
            addresses(fields.get(4)),
            name(fields.get(5)),
            as(Integer.class, fields.get(6)),
            as(Long.class, fields.get(7)),
            as(byte[].class, fields.get(8)));
    if (endpoint.protocol() < 0) {
      throw new IllegalArgumentException("bad endpoint: " + endpoint);
    }
    if (endpoint.token().length != Endpoint.TOKEN_BYTES) {
      throw new IllegalArgumentException("bad endpoint: tokenBytes=" + endpoint.token().length);
    }
    return endpoint;
  }

  /** The endpoint refuses to have none. */
  private static List<ListenerAddress> addresses(Object encoded) {
    List<?> list = as(List.class, encoded);
    if (list.size() > Endpoint.MAX_ADDRESSES) {
      throw new IllegalArgumentException("bad endpoint: addresses=" + list.size());
    }
    List<ListenerAddress> addresses = new ArrayList<>();
    for (Object element : list) {
      List<?> address = list(element, ADDRESS_FIELDS);
      addresses.add(
          new ListenerAddress(
              new NetworkAddress(
                  address(as(byte[].class, address.get(0))), as(Integer.class, address.get(1))),
              as(Integer.class, address.get(2))));
    }
    return addresses;
  }

  private static InetAddress address(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("bad endpoint: addressBytes=" + bytes.length, e);
    }
  }

  private static List<String> reasons(Object encoded) {
    List<?> list = as(List.class, encoded);
    List<String> reasons = new ArrayList<>();
    for (Object element : list) {
      String reason = as(String.class, element);
      if (list.size() > MAX_REASONS || reason.length() > MAX_REASON_CHARS) {
        throw new IllegalArgumentException(
            "bad record: reasons=" + list.size() + " reasonChars=" + reason.length());
      }
      reasons.add(reason);
    }
    return reasons;
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
