package dev.waymark.agent;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The annotation of that name in jdk.internal.vm.annotation, for the compiler (build/Relocate.java): the method is always inlined. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface ForceInline {
}
