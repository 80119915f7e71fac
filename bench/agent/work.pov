// Spheres, a torus, glass and a pattern.
#version 3.7;
global_settings { assumed_gamma 1 max_trace_level 6 }
camera { location <0, 3, -8> look_at <0, 1, 0> }
light_source { <5, 9, -6> color rgb 1.2 area_light <1, 0, 0>, <0, 0, 1>, 3, 3 }
plane { y, 0 pigment { checker color rgb <0.9, 0.8, 0.7>, color rgb <0.2, 0.3, 0.4> scale 0.7 } finish { reflection 0.2 } }
#declare i = 0;
#while (i < 60)
	sphere {
		<3.5 * sin(i * 0.7), 0.3 + i * 0.05, 3.5 * cos(i * 0.7)>, 0.35
		pigment { marble turbulence 1 color_map { [0 rgb <mod(i, 3) / 2, 0.4, 0.7>] [1 rgb 1] } }
		finish { phong 0.6 reflection 0.15 }
	}
	#declare i = i + 1;
#end
difference {
	torus { 1.6, 0.5 translate y * 0.8 }
	box { <-3, 0, -0.4>, <0, 3, 0.4> }
	pigment { rgbf <0.9, 1, 0.95, 0.8> } interior { ior 1.4 }
}
isosurface {
	function { x * x + (y - 2.2) * (y - 2.2) + z * z - 0.5 + 0.1 * sin(9 * x) * sin(9 * y) }
	contained_by { sphere { <0, 2.2, 0>, 1 } } max_gradient 5
	pigment { rgb <0.8, 0.5, 0.2> }
}
