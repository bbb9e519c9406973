// SPDX-License-Identifier: Apache-2.0
/**
 * Choice of the device, port and address of an executor, from the settings and the engine's
 * devices. Entry class {@link org.sparkrdma.shuffle.device.DeviceChoice}.
 */
package org.sparkrdma.shuffle.device;
