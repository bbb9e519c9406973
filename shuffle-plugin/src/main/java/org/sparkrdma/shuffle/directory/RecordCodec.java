// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.address.NetworkAddress.Kind;

/**
 * Encodes records and messages as lists of JDK types. Spark's RPC reads a message with the
 * executor's own class loader, which does not contain jars from {@code --jars}, and closes the
 * connection to the driver when a class is missing. Stateless.
 *
 * <pre>
 *   record    [format, "executor", id, "publisher", long, "epoch", long, "endpoint", endpoint]
 *   or        [format, "executor", id, "publisher", long, "epoch", long, "reasons", [text, ...]]
 *   endpoint  ["addresses", [address, ...], "engine", text, "protocol", int,
 *              "incarnation", long, "token", 32 bytes, "gids", [address, ...]]
 *   address   [4 or 16 bytes, prefix length of the subnet as int, port as int]
 * </pre>
 *
 * <p>The field {@code gids} is there only if the executor has addresses by GID. A reader of a
 * version that has no such field would take a GID among the addresses for an IPv6 address; from
 * this record it uses the IP addresses, and refuses an endpoint that has none.
 *
 * <p>Fields have names and any order; a reader ignores unknown names. The format number changes
 * only when an earlier reader would misread the record.
 */
final class RecordCodec {
  static final int FORMAT = 1;

  private static final int MAX_NAME_CHARS = 255;
  private static final int MAX_FIELDS = 32;
  private static final int MAX_REASONS = 16;
  private static final int MAX_REASON_CHARS = 1_000;

  private RecordCodec() {}

  static List<Object> encode(ExecutorRecord record) {
    List<Object> encoded = new ArrayList<>();
    encoded.add(FORMAT);
    put(encoded, "executor", record.executorId());
    put(encoded, "publisher", record.publisher());
    put(encoded, "epoch", record.epoch());
    if (record.endpoint().isPresent()) {
      put(encoded, "endpoint", encode(record.endpoint().get()));
    } else {
      put(encoded, "reasons", shortened(record.reasons()));
    }
    return encoded;
  }

  private static List<Object> encode(Endpoint endpoint) {
    List<Object> encoded = new ArrayList<>();
    put(encoded, "addresses", addresses(endpoint.addresses(), Kind.IP));
    put(encoded, "engine", endpoint.engine());
    put(encoded, "protocol", endpoint.protocol());
    put(encoded, "incarnation", endpoint.incarnation());
    put(encoded, "token", endpoint.token());
    List<Object> gids = addresses(endpoint.addresses(), Kind.GID);
    if (!gids.isEmpty()) {
      put(encoded, "gids", gids);
    }
    return encoded;
  }

  private static List<Object> addresses(List<ListenerAddress> addresses, Kind kind) {
    List<Object> encoded = new ArrayList<>();
    for (ListenerAddress address : addresses) {
      NetworkAddress network = address.network();
      if (network.kind() == kind) {
        encoded.add(
            new ArrayList<Object>(
                List.of(network.address().getAddress(), network.prefixBits(), address.port())));
      }
    }
    return encoded;
  }

  private static void put(List<Object> encoded, String name, Object value) {
    encoded.add(name);
    encoded.add(value);
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
    Map<String, Object> fields = fields(list.subList(1, list.size()));
    String executorId = name(fields.get("executor"));
    Optional<Endpoint> endpoint =
        fields.containsKey("endpoint")
            ? Optional.of(endpoint(executorId, fields(as(List.class, fields.get("endpoint")))))
            : Optional.empty();
    return new ExecutorRecord(
        executorId,
        as(Long.class, fields.get("publisher")),
        as(Long.class, fields.get("epoch")),
        endpoint,
        endpoint.isPresent() ? List.of() : reasons(fields.get("reasons")));
  }

  private static Endpoint endpoint(String executorId, Map<String, Object> fields) {
    List<ListenerAddress> addresses = addresses(fields.get("addresses"), Kind.IP);
    if (fields.containsKey("gids")) {
      addresses.addAll(addresses(fields.get("gids"), Kind.GID));
    }
    Endpoint endpoint =
        new Endpoint(
            executorId,
            addresses,
            name(fields.get("engine")),
            as(Integer.class, fields.get("protocol")),
            as(Long.class, fields.get("incarnation")),
            as(byte[].class, fields.get("token")));
    if (endpoint.protocol() < 0) {
      throw new IllegalArgumentException("bad endpoint: " + endpoint);
    }
    if (endpoint.token().length != Endpoint.TOKEN_BYTES) {
      throw new IllegalArgumentException("bad endpoint: tokenBytes=" + endpoint.token().length);
    }
    return endpoint;
  }

  /** The endpoint refuses to have none. */
  private static List<ListenerAddress> addresses(Object encoded, Kind kind) {
    List<?> list = as(List.class, encoded);
    if (list.size() > Endpoint.MAX_ADDRESSES) {
      throw new IllegalArgumentException("bad endpoint: addresses=" + list.size());
    }
    List<ListenerAddress> addresses = new ArrayList<>();
    for (Object element : list) {
      List<?> address = list(element, 3);
      addresses.add(
          new ListenerAddress(
              new NetworkAddress(
                  address(as(byte[].class, address.get(0))),
                  as(Integer.class, address.get(1)),
                  kind),
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

  /**
   * Encodes the resources of a ResourceProfile as {@code [name, amount, ...]}, and as {@code
   * [Boolean: false]} when the executor is not known.
   */
  static List<Object> encode(Optional<Map<String, Long>> resources) {
    List<Object> encoded = new ArrayList<>();
    if (resources.isEmpty()) {
      encoded.add(false);
    } else {
      resources.get().forEach((name, amount) -> put(encoded, name, amount));
    }
    return encoded;
  }

  /**
   * Decodes the same.
   *
   * @throws IllegalArgumentException when it is no such list
   */
  static Optional<Map<String, Long>> resources(Object encoded) {
    List<?> list = as(List.class, encoded);
    if (list.equals(List.of(false))) {
      return Optional.empty();
    }
    Map<String, Long> resources = new HashMap<>();
    fields(list).forEach((name, amount) -> resources.put(name, as(Long.class, amount)));
    return Optional.of(resources);
  }

  private static Map<String, Object> fields(List<?> list) {
    if (list.size() % 2 != 0 || list.size() > 2 * MAX_FIELDS) {
      throw new IllegalArgumentException("bad record: namesAndValues=" + list.size());
    }
    Map<String, Object> fields = new HashMap<>();
    for (int i = 0; i < list.size(); i += 2) {
      String name = name(list.get(i));
      if (fields.containsKey(name)) {
        throw new IllegalArgumentException("bad record: repeated=" + name);
      }
      fields.put(name, list.get(i + 1));
    }
    return fields;
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
