// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The limit of RDMA objects that control groups set for a device.
 *
 * @param device name of the device
 * @param objects maximum number of objects of all processes in the group
 */
public record ObjectLimit(String device, long objects) {
  private static final Pattern OBJECTS = Pattern.compile("(\\S+) .*\\bhca_object=(\\d{1,18})\\b.*");

  /**
   * The lowest limit of a device.
   *
   * @param lines as {@link ControlGroups#rdmaLimits}
   * @return empty without a limit
   */
  static Optional<ObjectLimit> of(String device, List<String> lines) {
    return lines.stream()
        .flatMap(line -> parse(line).stream())
        .filter(limit -> limit.device().equals(device))
        .min(Comparator.comparingLong(ObjectLimit::objects));
  }

  /** The limit in a line of rdma.max; empty when it has no number of objects. */
  public static Optional<ObjectLimit> parse(String line) {
    return Stream.of(OBJECTS.matcher(line))
        .filter(Matcher::matches)
        .map(match -> new ObjectLimit(match.group(1), Long.parseLong(match.group(2))))
        .findFirst();
  }

  /** The reason why RDMA does not start, and the remedy. */
  String sentence(int neededObjects) {
    return "the control group allows hca_object="
        + objects
        + " RDMA objects of device "
        + device
        + ", and an executor needs at least "
        + neededObjects
        + " at the same time and three more for each connection: write \""
        + device
        + " hca_object=max\" into rdma.max of the group";
  }
}
