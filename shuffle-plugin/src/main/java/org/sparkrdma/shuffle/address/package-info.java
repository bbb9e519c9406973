// SPDX-License-Identifier: Apache-2.0
/**
 * Choice of the device, port and addresses of an executor, from the settings and the engine's
 * devices, and of a pair of addresses for a connection.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.address.DeviceChoice}.
 */
package org.sparkrdma.shuffle.address;
