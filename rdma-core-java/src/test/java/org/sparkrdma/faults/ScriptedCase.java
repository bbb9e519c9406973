// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test whose display name says what the device does, and whose method name what the plug-in does.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ScriptedCase {
  /** The way of the blocks in the test; empty where each argument names its own. */
  String value() default "";
}
