// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * Sets options of connection identifiers, see rdma_set_option(3). Older kernels lack some of them:
 * such an option is logged once, and connections then use the device's default. Safe for any
 * thread.
 */
final class CmOptions {
  private static final Logger LOG = LoggerFactory.getLogger(CmOptions.class);

  /** Options of level RDMA_OPTION_ID whose value is one byte. */
  enum Option {
    TOS(0),
    ACK_TIMEOUT(3);

    private final int number;

    Option(int number) {
      this.number = number;
    }
  }

  /** See rdma_set_option(3). */
  @FunctionalInterface
  interface Call {
    /**
     * @return 0, or the error number
     */
    int set(long id, int option, int value);
  }

  private final String deviceName;
  private final Call call;
  private final Set<Option> missing = ConcurrentHashMap.newKeySet();

  CmOptions(String deviceName, Call call) {
    this.deviceName = deviceName;
    this.call = call;
  }

  /**
   * Sets an option if the kernel has it.
   *
   * @param value 0 to 255
   * @throws VerbsException when it has it and refuses the value
   */
  void set(long id, Option option, int value) throws VerbsException {
    if (missing.contains(option)) {
      return;
    }
    int errno = call.set(id, option.number, value);
    if (Libc.isUnsupported(errno)) {
      if (missing.add(option)) {
        LOG.warn(
            "The kernel cannot set RDMA_OPTION_ID_{}: device={} value={} errno={} ({}); connections"
                + " use the default of the device",
            option,
            deviceName,
            value,
            errno,
            Libc.strerror(errno));
      }
    } else if (errno != 0) {
      throw Libraries.failure(
          "rdma_set_option", errno, "option=RDMA_OPTION_ID_" + option + " value=" + value);
    }
  }

  /** Options that turned out to be missing. */
  Set<Option> missing() {
    return Set.copyOf(missing);
  }
}
