// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Set;

/**
 * A verbs call failed.
 *
 * <p>The message names the call, the object and the reason in lower case with {@code name=value}
 * pairs, as in {@code ibv_reg_mr failed: errno=12 (Cannot allocate memory) lengthBytes=16777216}.
 */
public class VerbsException extends Exception {
  private static final long serialVersionUID = 1L;

  /** {@link #errno()} of failures that no system call reported. */
  public static final int NO_ERRNO = 0;

  /** {@link #errno()} when the device, the kernel or a limit has no room; see errno(3). */
  public static final int ENOMEM = 12;

  /** EFAULT of errno(3): memory cannot be used as the call asks for. */
  public static final int EFAULT = 14;

  private static final int EIO = 5;
  private static final int EAGAIN = 11;
  private static final int EBUSY = 16;
  private static final int ENODEV = 19;
  private static final int EMFILE = 24;

  private static final Set<Integer> TRANSIENT = Set.of(EIO, EAGAIN, EBUSY, ENODEV, EMFILE);

  /** The verbs call that failed. */
  private final String call;

  /** The system's error number, or {@link #NO_ERRNO}. */
  private final int errno;

  /**
   * A failure with all that is known of it.
   *
   * @param call the verbs call that failed, as in {@code ibv_reg_mr}
   * @param errno the system's error number, see errno(3), or {@link #NO_ERRNO}
   * @param message the complete message; not null
   * @param cause the cause; may be null
   */
  public VerbsException(String call, int errno, String message, Throwable cause) {
    super(message, cause);
    this.call = call;
    this.errno = errno;
  }

  /**
   * A failure without an error number of the system.
   *
   * @param call the verbs call that failed, as in {@code ibv_reg_mr}
   * @param message the complete message; not null
   */
  public VerbsException(String call, String message) {
    this(call, NO_ERRNO, message, null);
  }

  /**
   * A failure without an error number of the system, with its cause.
   *
   * @param call the verbs call that failed, as in {@code ibv_reg_mr}
   * @param message the complete message; not null
   * @param cause the cause; may be null
   */
  public VerbsException(String call, String message, Throwable cause) {
    this(call, NO_ERRNO, message, cause);
  }

  /** {@return the verbs call that failed} */
  public final String call() {
    return call;
  }

  /** {@return the system's error number, see errno(3); {@link #NO_ERRNO} when there is none} */
  public final int errno() {
    return errno;
  }

  /**
   * {@return whether the device, the kernel or a limit has no room: ENOMEM, or EAGAIN of a control
   * group (Documentation/admin-guide/cgroup-v1/rdma.rst)}
   */
  public final boolean isNoRoom() {
    return errno == ENOMEM || errno == EAGAIN;
  }

  /**
   * {@return whether the failure may be over soon: the device is being reset, or others use up a
   * limit} A list of no devices is none of these.
   */
  public final boolean isTransient() {
    boolean found = false;
    for (Throwable failure = this; failure != null && !found; failure = failure.getCause()) {
      found =
          failure instanceof VerbsException of
              && TRANSIENT.contains(of.errno)
              && !of.call.equals("rdma_get_devices");
    }
    return found;
  }
}
